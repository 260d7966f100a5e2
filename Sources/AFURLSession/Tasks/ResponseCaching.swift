/// Whether the cache may store the response that a consumer takes.
enum ResponseCaching {
    /// It is kept elsewhere, or not at all. What the cache has is a former version of it.
    case never
    /// It is none of what a cache has.
    case apart
    case always
    /// The task's delegate is asked.
    case ifDelegateAdmits

    var storesNothing: Bool {
        switch self {
        case .never, .apart: true
        case .always, .ifDelegateAdmits: false
        }
    }
}
