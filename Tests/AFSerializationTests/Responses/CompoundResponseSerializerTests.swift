@Suite struct CompoundResponseSerializerTests {
    private let compound = CompoundResponseSerializer(
        responseSerializers: [PropertyListResponseSerializer(), JSONResponseSerializer()]
    )

    // MARK: - The catalogue

    @Test("13.6 compound: JSON is decoded by the member for JSON")
    func json() throws {
        let (object, error) = serialized(compound, try makeResponse(type: "application/json"), #"{"key":"value"}"#)

        #expect(object as? [String: String] == ["key": "value"])
        #expect(error == nil)
    }

    @Test("13.6 compound: a copy has the members, their classes and order, and the sets")
    func copying() throws {
        compound.acceptableStatusCodes = IndexSet(integer: 100)
        compound.acceptableContentTypes = ["test/type"]

        let copy = try #require(compound.copy() as? CompoundResponseSerializer)

        #expect(copy !== compound)
        #expect(copy.responseSerializers.count == 2)
        #expect(copy.responseSerializers.first is PropertyListResponseSerializer)
        #expect(copy.responseSerializers.last is JSONResponseSerializer)
        #expect(copy.acceptableStatusCodes == IndexSet(integer: 100))
        #expect(copy.acceptableContentTypes == ["test/type"])
    }

    @Test("13.6 compound: archived members come back with their classes and settings")
    func archiving() throws {
        let nested = CompoundResponseSerializer(responseSerializers: [HTTPResponseSerializer()])
        let compound = CompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [JSONResponseSerializer(readingOptions: .fragmentsAllowed), nested]
        )
        compound.acceptableContentTypes = ["a/b"]

        let read = try #require(try archived(compound))

        let (first, last) = (read.responseSerializers.first, read.responseSerializers.last)
        #expect(read.responseSerializers.count == 2)
        #expect(type(of: try #require(first)) == JSONResponseSerializer.self)
        #expect((first as? JSONResponseSerializer)?.readingOptions == .fragmentsAllowed)
        #expect((last as? CompoundResponseSerializer)?.responseSerializers.first is HTTPResponseSerializer)
        #expect(read.acceptableContentTypes == ["a/b"])
    }

    // MARK: - Others

    @Test("9.8, 14 responses: the error of the member that has an object is returned")
    func errorOfWinner() throws {
        let (object, error) = serialized(compound, try makeResponse(404, type: "application/json"), #"{"a":1}"#)

        #expect(object as? [String: Int] == ["a": 1])
        #expect(try #require(error).isOurs(-1011))
    }

    @Test("9.8 without an object of a member the body is returned, and errors of members are lost")
    func noWinner() throws {
        let good = serialized(compound, try makeResponse(type: "text/html"), "text")
        let bad = serialized(compound, try makeResponse(500, type: "text/html"), "text")

        #expect(good.object as? Data == Data("text".utf8))
        #expect(good.error == nil)
        #expect(bad.object as? Data == Data("text".utf8))
        #expect(try #require(bad.error).isOurs(-1011))
        #expect(bad.error?.beneath == nil)
    }

    @Test("9.8 members that are no HTTP serializers are skipped")
    func otherMembers() throws {
        let other = CompoundResponseSerializer(responseSerializers: [LengthSerializer(), HTTPResponseSerializer()])

        let (object, _) = serialized(other, try makeResponse(), "text")

        #expect(object as? Data == Data("text".utf8))
        #expect(CompoundResponseSerializer.serializer().responseSerializers.isEmpty)
    }
}

/// Serializes without being an HTTP serializer.
final class LengthSerializer: NSObject, URLResponseSerialization {
    static var supportsSecureCoding: Bool { true }

    override init() {
        super.init()
    }

    init?(coder: NSCoder) {
        super.init()
    }

    func encode(with coder: NSCoder) {}

    func copy(with zone: NSZone? = nil) -> Any { self }

    func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? { data?.count }
}
