import AFWire
import Foundation

extension URLResponse {
    static func fileName(fromPathOf url: URL?) -> String {
        guard let url, LocalScheme(url) != .data else { return "Unknown" }
        return FileNameSyntax.sanitized(url.lastPathComponent) ?? "Unknown"
    }
}

/// The keys of archived responses.
enum ResponseKey: String {
    case url = "AF.url"
    case mimeType = "AF.mimeType"
    case length = "AF.expectedContentLength"
    case textEncodingName = "AF.textEncodingName"
    case status = "AF.statusCode"
    case version = "AF.version"
    case fields = "AF.headerFields"
}

extension NSCoder {
    func decodeText(_ key: ResponseKey) -> String? {
        // A missing key would fail the whole archive.
        guard containsValue(forKey: key.rawValue) else { return nil }
        return decodeObject(of: NSString.self, forKey: key.rawValue).map { String(describing: $0) }
    }

    func encodeText(_ text: String?, _ key: ResponseKey) {
        guard let text else { return }
        encode(NSString(string: text), forKey: key.rawValue)
    }
}
