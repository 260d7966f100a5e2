@Suite struct PropertyListResponseSerializerTests {
    private let serializer = PropertyListResponseSerializer()
    private let type = "application/x-plist"

    private func decode(_ body: Data?, status: Int = 200) throws -> (object: Any?, error: NSError?) {
        let (object, error) = serializer.serialize(try makeResponse(status, type: type), data: body)
        return (object, error as NSError?)
    }

    // MARK: - The catalogue

    @Test("13.6 plist: a dictionary in XML becomes one")
    func xml() throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["a": [1, "b"]], format: .xml, options: 0)

        let (object, error) = try decode(list)

        let dictionary = try #require(object as? [String: [Any]])
        #expect(error == nil)
        #expect(dictionary["a"]?.count == 2)
    }

    @Test("13.6 plist: JSON is an error")
    func json() throws {
        let (object, error) = try decode(Data(#"{"a":"b"}"#.utf8))

        #expect(object == nil)
        #expect(error != nil)
    }

    @Test("13.6 plist: 204 without data is nothing")
    func noData() throws {
        let (object, error) = try decode(nil, status: 204)

        #expect(object == nil)
        #expect(error == nil)
    }

    @Test("13.6 plist: a copy has format, options and sets")
    func copying() throws {
        let serializer = PropertyListResponseSerializer(format: .binary, readOptions: .mutableContainers)
        serializer.acceptableStatusCodes = IndexSet(integer: 100)
        serializer.acceptableContentTypes = ["test/type"]

        let copy = try #require(serializer.copy() as? PropertyListResponseSerializer)

        #expect(copy !== serializer)
        #expect(copy.format == .binary)
        #expect(copy.readOptions == .mutableContainers)
        #expect(copy.acceptableStatusCodes == IndexSet(integer: 100))
        #expect(copy.acceptableContentTypes == ["test/type"])
    }

    @Test("13.6 plist: what is archived comes back")
    func archiving() throws {
        let serializer = PropertyListResponseSerializer.serializer(
            with: .openStep,
            readOptions: .mutableContainersAndLeaves
        )

        let read = try #require(try archived(serializer))

        #expect(read.format == .openStep)
        #expect(read.readOptions == .mutableContainersAndLeaves)
        #expect(read.acceptableContentTypes == [type])
    }

    // MARK: - Others

    @Test("9.6 what is accepted unless set otherwise")
    func defaults() {
        for serializer in [PropertyListResponseSerializer(), .serializer()] {
            #expect(serializer.acceptableContentTypes == ["application/x-plist"])
            #expect(serializer.format == .xml)
            #expect(serializer.readOptions == [])
        }
    }

    @Test("16 9.6 an empty body is nothing, as in a 204 and in every download")
    func emptyBody() throws {
        for status in [200, 204, 404] {
            let (object, error) = try decode(Data(), status: status)

            #expect(object == nil)
            #expect(error.map { $0.isOurs(-1011) } ?? true)
            #expect((error == nil) == (status != 404))
        }
    }

    @Test("9.6 a binary list may name the same strings as often as it likes")
    func repetition() throws {
        let list = Array(repeating: ["state": "open", "kind": "ticket"], count: 2000)

        let (object, error) = try decode(
            PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        )

        #expect((object as? [[String: String]])?.count == 2000)
        #expect(error == nil)
    }

    @Test("9.6 binary lists and those of OpenStep are read, mutable if they are to be")
    func formats() throws {
        let list: [String: Any] = ["a": ["b": [1, 2]], "d": Data([1, 2]), "t": Date(timeIntervalSince1970: 0)]
        serializer.readOptions = .mutableContainers

        let binary = try decode(PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        let openStep = try decode(Data(#"{ "a" = { b = (1, "2 )"); }; /* ((( */ }"#.utf8))

        #expect(binary.object is NSMutableDictionary)
        #expect(((binary.object as? [String: Any])?["a"] as? [String: [Int]]) == ["b": [1, 2]])
        #expect(((openStep.object as? [String: Any])?["a"] as? [String: [String]]) == ["b": ["1", "2 )"]])
    }
}
