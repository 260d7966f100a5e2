import Foundation

/// What the owner of a task has of its response.
enum DeliveredResponse {
    case nothing
    /// The consumer can forget what it has got.
    case revocable(URLResponse)
    case taken(URLResponse)

    var response: URLResponse? {
        switch self {
        case .nothing: nil
        case .revocable(let response), .taken(let response): response
        }
    }

    var mayStartOver: Bool {
        switch self {
        case .nothing, .revocable: true
        case .taken: false
        }
    }
}
