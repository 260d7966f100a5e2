import AFWire
import Foundation

extension CacheRules {
    /// The URL that a reference in a field names. Nil if it cannot be loaded.
    static func resolve(_ reference: String, against url: RequestURL) -> RequestURL? {
        guard let base = URL(string: url.localText), let location = URL(string: reference, relativeTo: base) else {
            return nil
        }
        return try? RequestURL(location.absoluteString)
    }
}
