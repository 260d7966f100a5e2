import AFWire
import Foundation

extension CacheRules {
    /// A reference in a field, as a URL. Nil if it cannot be one we load.
    static func resolve(_ reference: String, against url: RequestURL) -> RequestURL? {
        guard let base = URL(string: url.localText), let location = URL(string: reference, relativeTo: base) else {
            return nil
        }
        return try? RequestURL(location.absoluteString)
    }
}
