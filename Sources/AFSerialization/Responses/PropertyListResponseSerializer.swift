import AFBase
public import Foundation

// Unchecked as its superclass; adds locked state.
/// Decodes property lists, in XML, binary or the format of OpenStep, to dictionaries, arrays, strings, numbers, dates
/// and data.
///
/// Accepts `application/x-plist`. An empty body has no object. More than 512 arrays and dictionaries within each other, in
/// binary lists more than 128, are an error, and so are binary lists that name the same objects over and over.
open class PropertyListResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    private struct State: Sendable {
        var format = PropertyListSerialization.PropertyListFormat.xml
        var readOptions: PropertyListSerialization.ReadOptions = []
    }

    static let contentTypes: Set<String> = ["application/x-plist"]

    private let state: Lock<State>

    /// A serializer without options.
    public required init() {
        state = Lock(State())
        super.init()
        acceptableContentTypes = Self.contentTypes
    }

    /// A serializer with a format and reading options.
    public convenience init(
        format: PropertyListSerialization.PropertyListFormat,
        readOptions: PropertyListSerialization.ReadOptions
    ) {
        self.init()
        self.format = format
        self.readOptions = readOptions
    }

    /// A new serializer with a format and reading options.
    open class func serializer(
        with format: PropertyListSerialization.PropertyListFormat,
        readOptions: PropertyListSerialization.ReadOptions
    ) -> Self {
        let serializer = Self()
        serializer.format = format
        serializer.readOptions = readOptions
        return serializer
    }

    /// A format, for your own use: property lists are read in whatever format they have. XML.
    open var format: PropertyListSerialization.PropertyListFormat {
        get { state.withLock { $0.format } }
        set { state.withLock { $0.format = newValue } }
    }

    /// Whether arrays and dictionaries, and strings in them, are mutable. They are not.
    open var readOptions: PropertyListSerialization.ReadOptions {
        get { state.withLock { $0.readOptions } }
        set { state.withLock { $0.readOptions = newValue } }
    }

    /// Returns the decoded property list.
    ///
    /// If only the status is not acceptable, returns the object and an error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            guard !body.isEmpty else { return nil }
            try PropertyListGuard.check(body)
            let options = readOptions
            let list = try PropertyListSerialization.propertyList(from: body, options: options, format: nil)
            guard !options.isDisjoint(with: [.mutableContainers, .mutableContainersAndLeaves]) else { return list }
            // Foundation on Linux makes nothing mutable.
            let makesLeavesMutable = options.contains(.mutableContainersAndLeaves)
            return ContainerMapping(makesContainersMutable: true, makesLeavesMutable: makesLeavesMutable).mapped(list)
        }
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let copy = copy as? PropertyListResponseSerializer {
            copy.format = format
            copy.readOptions = readOptions
        }
        return copy
    }

    /// Reads an archived serializer.
    public required init?(coder: NSCoder) {
        var state = State()
        do {
            try coder.readJSON(UInt.self, key: .format) { code in
                guard let format = PropertyListSerialization.PropertyListFormat(rawValue: code) else {
                    throw CocoaError(.coderReadCorrupt)
                }
                state.format = format
            }
            try coder.readJSON(UInt.self, key: .readOptions) { state.readOptions = .init(rawValue: $0) }
        } catch {
            return nil
        }
        self.state = Lock(state)
        super.init(coder: coder)
    }

    /// Archives the settings.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.writeJSON(format.rawValue, key: .format)
        coder.writeJSON(readOptions.rawValue, key: .readOptions)
    }
}
