import AFBase
public import Foundation

// Unchecked as its superclass; adds locked state.
/// Asks several serializers, in their order, until one has an object.
///
/// ```swift
/// let serializer = CompoundResponseSerializer(
///     responseSerializers: [JSONResponseSerializer(), PropertyListResponseSerializer()]
/// )
/// ```
///
/// If none has, the body is returned as it is, validated by this serializer's own settings, which accept any content
/// type; what the members found wrong is lost then. Members that are no ``HTTPResponseSerializer`` are never asked.
open class CompoundResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    private let members: Lock<[any URLResponseSerialization]>

    /// A serializer without members, which does what ``HTTPResponseSerializer`` does.
    public required init() {
        members = Lock([])
        super.init()
    }

    /// A serializer of others.
    public convenience init(responseSerializers: [any URLResponseSerialization]) {
        self.init()
        members.withLock { $0 = responseSerializers }
    }

    /// A new serializer of others.
    open class func compoundSerializer(
        withResponseSerializers responseSerializers: [any URLResponseSerialization]
    ) -> Self {
        let serializer = Self()
        serializer.members.withLock { $0 = responseSerializers }
        return serializer
    }

    /// The serializers, in the order they are asked.
    open var responseSerializers: [any URLResponseSerialization] { members.withLock { $0 } }

    /// Returns the first object that a member has, with that member's error, or else the body.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        for case let serializer as HTTPResponseSerializer in responseSerializers {
            let (object, problem) = collectingError { serializer.responseObject(for: response, data: data, error: $0) }
            guard let object else { continue }
            if let problem { error?.pointee = problem }
            return object
        }
        return super.responseObject(for: response, data: data, error: error)
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings and the very same members.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? CompoundResponseSerializer)?.members.withLock { $0 = responseSerializers }
        return copy
    }

    /// Reads an archived serializer; nil if a member cannot be read, or is none that serializes responses.
    public required init?(coder: NSCoder) {
        var members: [any URLResponseSerialization] = []
        do {
            try coder.readJSON([ArchivedMember].self, key: .responseSerializers) { archived in
                members = try archived.map { try $0.serializer() }
            }
        } catch {
            return nil
        }
        self.members = Lock(members)
        super.init(coder: coder)
    }

    /// Archives the settings and the members.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.writeJSON(responseSerializers.map(ArchivedMember.init), key: .responseSerializers)
    }
}
