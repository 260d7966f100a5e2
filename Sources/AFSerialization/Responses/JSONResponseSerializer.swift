import AFBase
public import Foundation

// Unchecked as its superclass; adds locked state.
/// Decodes bodies in JSON to dictionaries, arrays, strings, numbers and `NSNull`.
///
/// Accepts `application/json`, `text/json` and `text/javascript`, in UTF-8, UTF-16 or UTF-32, with or without a byte
/// order mark. An empty body, and one of a single space, has no object.
///
/// Text that is not valid, and text with more than 512 arrays and dictionaries within each other, is an error. Of
/// equal keys the last one counts. For types of your own see ``DecodingResponseSerializer``.
open class JSONResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    private struct State: Sendable {
        var readingOptions: JSONSerialization.ReadingOptions = []
        var removesKeysWithNullValues = false
    }

    static let contentTypes: Set<String> = ["application/json", "text/json", "text/javascript"]

    private let state: Lock<State>

    /// A serializer without options.
    public required init() {
        state = Lock(State())
        super.init()
        acceptableContentTypes = Self.contentTypes
    }

    /// A serializer with reading options.
    public convenience init(readingOptions: JSONSerialization.ReadingOptions) {
        self.init()
        self.readingOptions = readingOptions
    }

    /// A new serializer with reading options.
    open class func serializer(with readingOptions: JSONSerialization.ReadingOptions) -> Self {
        let serializer = Self()
        serializer.readingOptions = readingOptions
        return serializer
    }

    /// How JSON is read. None; with `fragmentsAllowed`, text that is only a string, a number, a truth value or null is
    /// accepted.
    open var readingOptions: JSONSerialization.ReadingOptions {
        get { state.withLock { $0.readingOptions } }
        set { state.withLock { $0.readingOptions = newValue } }
    }

    /// Whether nulls are removed from dictionaries and arrays. False.
    open var removesKeysWithNullValues: Bool {
        get { state.withLock { $0.removesKeysWithNullValues } }
        set { state.withLock { $0.removesKeysWithNullValues = newValue } }
    }

    /// Returns the decoded JSON.
    ///
    /// If only the status is not acceptable, returns the object and an error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            guard !body.isEmpty, body != Data(" ".utf8) else { return nil }
            let text = try JSONText(body)
            guard !text.data.isEmpty else { return nil }  // nothing but a byte order mark
            let object = try JSONSerialization.jsonObject(with: text.data, options: readingOptions)
            guard removesKeysWithNullValues else { return object }
            return Self.removingKeysWithNullValues(from: object, readingOptions: readingOptions)
        }
    }

    package override func isQuick(bodyLength: Int, isAwaited: Bool) -> Bool {
        bodyLength <= Self.quickLength && type(of: self) == JSONResponseSerializer.self
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let copy = copy as? JSONResponseSerializer {
            copy.readingOptions = readingOptions
            copy.removesKeysWithNullValues = removesKeysWithNullValues
        }
        return copy
    }

    /// Reads an archived serializer.
    public required init?(coder: NSCoder) {
        var state = State()
        do {
            try coder.readJSON(UInt.self, key: .readingOptions) { state.readingOptions = .init(rawValue: $0) }
            try coder.readJSON(Bool.self, key: .removesKeysWithNullValues) { state.removesKeysWithNullValues = $0 }
        } catch {
            return nil
        }
        self.state = Lock(state)
        super.init(coder: coder)
    }

    /// Archives the settings.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.writeJSON(readingOptions.rawValue, key: .readingOptions)
        coder.writeJSON(removesKeysWithNullValues, key: .removesKeysWithNullValues)
    }
}

extension JSONResponseSerializer {
    /// A JSON object without nulls: without the keys of a dictionary, and the elements of an array, that are null.
    ///
    /// Goes through everything within it. What becomes empty stays: `[null]` becomes `[]`.
    ///
    /// - Parameters:
    ///   - object: Anything; what is neither array nor dictionary is returned as it is.
    ///   - readingOptions: With `mutableContainers` arrays and dictionaries are mutable.
    public static func removingKeysWithNullValues(
        from object: Any,
        readingOptions: JSONSerialization.ReadingOptions = []
    ) -> Any {
        let isMutable = readingOptions.contains(.mutableContainers)
        return ContainerMapping(removesNulls: true, makesContainersMutable: isMutable).mapped(object)
    }
}

/// JSON as UTF-8 without a byte order mark, no deeper than the stack allows.
struct JSONText {
    /// How many arrays and dictionaries may be within each other.
    static let deepestLevel = 512
    /// The same for types that decode themselves: they take two kilobytes of stack for each level, if not more.
    static let deepestDecodableLevel = 128

    let data: Data

    /// Takes a body in any encoding JSON has ever been allowed to have.
    ///
    /// - Throws: If it is not in its encoding, or too deep.
    init(_ body: Data, deepest: Int = deepestLevel) throws {
        data = try Self.utf8(body)
        guard !Self.isDeeper(data, than: deepest) else {
            throw CocoaError.unreadable("The JSON has more than \(deepest) arrays and dictionaries within each other")
        }
    }

    private static func utf8(_ body: Data) throws -> Data {
        let (encoding, mark) = UnicodeEncoding.detect(in: body)
        let text = body.dropFirst(mark)
        guard encoding != .utf8 else { return mark == 0 ? body : Data(text) }
        guard let string = encoding.string(text) else {
            throw CocoaError.unreadable("The JSON is not valid \(encoding)")
        }
        return Data(string.utf8)
    }

    // MARK: - Depth

    /// Whether more than so many arrays and dictionaries are within each other, if this is JSON.
    private static func isDeeper(_ text: Data, than limit: Int) -> Bool {
        text.withUnsafeBytes { bytes in
            var depth = 0
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: "\""): index = endOfString(bytes, from: index)
                default: break
                }
                if depth > limit { return true }
                index += 1
            }
            return false
        }
    }

    /// Where the string that begins here has its closing quote.
    private static func endOfString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count && bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }
}
