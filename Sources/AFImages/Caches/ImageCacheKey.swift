import AFNetworking
import Foundation

/// The name of an image in a cache. Its parts stay apart, so that no two names are one by accident.
enum ImageCacheKey: Hashable, Sendable {
    case named(String)
    case requested(ImageRequestKey, additional: String?)

    /// Nil for a request whose answer is nobody else's.
    init?(_ request: URLRequest, additional: String?) {
        guard let key = ImageRequestKey(request), key.isRepeatable else { return nil }
        if additional == nil, let name = key.name {
            self = .named(name)
        } else {
            self = .requested(key, additional: additional)
        }
    }
}
