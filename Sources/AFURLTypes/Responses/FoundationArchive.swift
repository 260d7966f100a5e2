import AFWire
import Foundation

/// Reads what FoundationNetworking has archived. An unarchiver has to be told of the class:
/// `setClass(HTTPURLResponse.self, forClassName: "NSHTTPURLResponse")`.
///
/// Apple's archives have other keys, which Apple does not document: they are refused.
struct FoundationArchive {
    private let coder: NSCoder

    init(_ coder: NSCoder) {
        self.coder = coder
    }

    var url: URL? { object(NSURL.self, key: "NS.url").flatMap { $0.absoluteString }.flatMap { URL(string: $0) } }
    var mimeType: String? { text("NS.mimeType") }
    var textEncodingName: String? { text("NS.textEncodingName") }
    var expectedContentLength: Int64 { coder.decodeInt64(forKey: "NS.expectedContentLength") }

    /// Nil if the archive has none, or one that no response can have.
    var statusCode: Int? {
        guard coder.containsValue(forKey: "NS.statusCode") else { return nil }
        return coder.decodeInteger(forKey: "NS.statusCode")
    }

    var headers: HTTPHeaders? {
        let key = "NS.allHeaderFields"
        guard coder.containsValue(forKey: key),
            let fields = coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: key) as? [String: String]
        else { return nil }
        return HTTPHeaders(checking: fields)
    }

    var user: String? { text("NS._user") }
    var password: String? { text("NS._password") }
    var persistence: UInt? { object(NSNumber.self, key: "NS._persistence").map(\.uintValue) }

    private func text(_ key: String) -> String? { object(NSString.self, key: key).map { String(describing: $0) } }

    private func object<Object: NSObject & NSSecureCoding>(_ type: Object.Type, key: String) -> Object? {
        guard coder.containsValue(forKey: key) else { return nil }
        return coder.decodeObject(of: type, forKey: key)
    }
}
