import AFWire
public import Foundation

// Every stored property of this class and of `HTTPURLResponse` is a constant of a Sendable type. Unchecked, because the
// compiler cannot check an open class; a subclass that adds state must make that safe itself.
/// The description of loaded data, whatever protocol it came by.
open class URLResponse: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private let location: URL?
    private let plain: Plain?

    /// The parts that `HTTPURLResponse` reads from its header fields instead.
    private struct Plain: Sendable {
        let mimeType: String?
        let expectedContentLength: Int64
        let textEncodingName: String?
    }

    /// Makes a response from its parts. A length of -1 means unknown.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        location = url
        plain = Plain(mimeType: mimeType, expectedContentLength: Int64(length), textEncodingName: name)
        super.init()
    }

    /// For subclasses that override all other properties.
    package init(url: URL?) {
        location = url
        plain = nil
        super.init()
    }

    /// The URL the data came from: after redirects, the last one.
    open var url: URL? { location }

    /// The media type in lower case without parameters; nil when there is none.
    open var mimeType: String? { plain?.mimeType }

    /// The announced length; -1 when it is unknown.
    open var expectedContentLength: Int64 { plain?.expectedContentLength ?? -1 }

    /// The name of the character set in lower case; nil when there is none.
    open var textEncodingName: String? { plain?.textEncodingName }

    /// A name to save the data under: the last component of the URL's path, made safe, or `Unknown`.
    open var suggestedFilename: String? { Self.fileName(fromPathOf: location) }

    // MARK: - Copying and coding

    /// Returns the response itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Responses can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived response, also one of FoundationNetworking; nil if the archive has another form.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        guard coder.containsValue(forKey: ResponseKey.length.rawValue) else {
            let archive = FoundationArchive(coder)
            guard let url = archive.url else { return nil }
            location = url
            plain = Plain(
                mimeType: archive.mimeType,
                expectedContentLength: archive.expectedContentLength,
                textEncodingName: archive.textEncodingName
            )
            super.init()
            return
        }
        location = coder.decodeText(.url).flatMap { URL(string: $0) }
        plain = Plain(
            mimeType: coder.decodeText(.mimeType),
            expectedContentLength: coder.decodeInt64(forKey: ResponseKey.length.rawValue),
            textEncodingName: coder.decodeText(.textEncodingName)
        )
        super.init()
    }

    /// For subclasses that archive the URL only.
    package init(urlFrom coder: NSCoder) {
        location = coder.decodeText(.url).flatMap { URL(string: $0) } ?? FoundationArchive(coder).url
        plain = nil
        super.init()
    }

    /// Archives the response.
    open func encode(with coder: NSCoder) {
        coder.encodeText(url?.absoluteString, key: .url)
        coder.encodeText(mimeType, key: .mimeType)
        coder.encode(expectedContentLength, forKey: ResponseKey.length.rawValue)
        coder.encodeText(textEncodingName, key: .textEncodingName)
    }

    // MARK: - Comparing and describing

    /// Whether the other object is a response of the same class with the same content.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLResponse, type(of: other) == type(of: self) else { return false }
        return url == other.url && mimeType == other.mimeType
            && expectedContentLength == other.expectedContentLength && textEncodingName == other.textEncodingName
    }

    /// The same for equal responses.
    open override var hash: Int { url.hashValue }

    /// Class, URL without user name and password, and media type.
    open override var description: String {
        "<\(type(of: self)) \(url?.textWithoutUserInfo ?? "url: nil"), \(mimeType ?? "no media type")>"
    }
}

extension URLResponse {
    package static func fileName(fromPathOf url: URL?) -> String {
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

    func encodeText(_ text: String?, key: ResponseKey) {
        guard let text else { return }
        encode(NSString(string: text), forKey: key.rawValue)
    }
}
