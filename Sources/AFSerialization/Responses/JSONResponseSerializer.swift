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
