@Suite struct JSONResponseSerializerTests {
    private let serializer = JSONResponseSerializer()

    private func decode(_ body: String) throws -> (object: Any?, error: NSError?) {
        serialized(serializer, try makeResponse(type: "application/json"), body)
    }

    // MARK: - The catalogue

    @Test(
        "13.5.1, 13.5.2, 13.5.3 the media types of JSON are accepted",
        arguments: ["application/json", "text/json", "text/javascript", "Application/JSON; charset=utf-8"]
    )
    func types(_ type: String) throws {
        #expect(try serializer.validate(makeResponse(type: type), data: Data("{}".utf8)))
    }

    @Test("13.5.4 another type is an error")
    func otherType() throws {
        let (object, error) = serialized(serializer, try makeResponse(type: "nonstandard/json"), "{}")

        #expect(object == nil)
        #expect(try #require(error).isOurs(-1016))
    }

    @Test("13.5.5 a dictionary becomes one")
    func dictionary() throws {
        let (object, error) = try decode(#"{"key":"value","n":[1,2.5,true,null]}"#)

        let dictionary = try #require(object as? [String: Any])
        #expect(error == nil)
        #expect(dictionary["key"] as? String == "value")
        #expect((dictionary["n"] as? [Any])?.count == 4)
    }

    @Test("13.5.6 what is no JSON is an error")
    func invalid() throws {
        let (object, error) = try decode("{invalid}")

        #expect(object == nil)
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == CocoaError.propertyListReadCorrupt.rawValue)
    }

    @Test("13.5.7 no data is nothing")
    func empty() throws {
        let none = serialized(serializer, try makeResponse(type: "application/json"), nil)
        let (object, error) = try decode("")

        #expect(object == nil && error == nil)
        #expect(none.object == nil && none.error == nil)
    }

    @Test("13.5.8, 14 responses: a single space is nothing")
    func space() throws {
        let (object, error) = try decode(" ")

        #expect(object == nil)
        #expect(error == nil)
        #expect(try decode("  ").error != nil)
    }

    @Test("13.5.9, 14 responses: nulls are removed on every level")
    func nulls() throws {
        serializer.removesKeysWithNullValues = true

        let (object, error) = try decode(
            #"{"key":"value","nullkey":null,"array":[{"subnullkey":null}],"arrayWithNulls":[null]}"#
        )

        let dictionary = try #require(object as? [String: Any])
        #expect(error == nil)
        #expect(Set(dictionary.keys) == ["key", "array", "arrayWithNulls"])
        #expect((dictionary["array"] as? [[String: Any]])?.map(\.isEmpty) == [true])
        #expect((dictionary["arrayWithNulls"] as? [Any])?.isEmpty == true)
    }

    @Test("13.5.10 a copy has codes, types, options and the flag")
    func copying() throws {
        serializer.acceptableStatusCodes = IndexSet(integer: 100)
        serializer.acceptableContentTypes = ["test/type"]
        serializer.readingOptions = [.mutableLeaves, .fragmentsAllowed]
        serializer.removesKeysWithNullValues = true

        let copy = try #require(serializer.copy() as? JSONResponseSerializer)

        #expect(copy !== serializer)
        #expect(copy.acceptableStatusCodes == IndexSet(integer: 100))
        #expect(copy.acceptableContentTypes == ["test/type"])
        #expect(copy.readingOptions == [.mutableLeaves, .fragmentsAllowed])
        #expect(copy.removesKeysWithNullValues)
    }

    @Test("13.5.11 it supports secure coding")
    func secureCoding() {
        #expect(JSONResponseSerializer.supportsSecureCoding)
    }

    @Test("13.5.12 what is archived comes back")
    func archiving() throws {
        serializer.acceptableStatusCodes = IndexSet([100, 200, 201])
        serializer.acceptableContentTypes = ["test/type", "a/b"]
        serializer.readingOptions = .fragmentsAllowed
        serializer.removesKeysWithNullValues = true

        let read = try #require(try archived(serializer))

        #expect(read.acceptableStatusCodes == IndexSet([100, 200, 201]))
        #expect(read.acceptableContentTypes == ["test/type", "a/b"])
        #expect(read.readingOptions == .fragmentsAllowed)
        #expect(read.removesKeysWithNullValues)
    }

    // MARK: - Options

    @Test("9.4 what is accepted unless set otherwise, and the factories")
    func defaults() {
        for serializer in [JSONResponseSerializer(), .serializer()] {
            #expect(serializer.acceptableContentTypes == ["application/json", "text/json", "text/javascript"])
            #expect(serializer.acceptableStatusCodes == IndexSet(200..<300))
            #expect(serializer.readingOptions == [])
            #expect(!serializer.removesKeysWithNullValues)
        }
        #expect(JSONResponseSerializer.serializer(with: .mutableContainers).readingOptions == .mutableContainers)
        #expect(JSONResponseSerializer(readingOptions: .mutableContainers).readingOptions == .mutableContainers)
    }

    @Test("9.4 text that is only a value is refused, unless fragments are allowed")
    func fragments() throws {
        for (text, value) in [("1", NSNumber(value: 1)), (#""a""#, "a" as NSString), ("true", NSNumber(value: true))] {
            serializer.readingOptions = []
            let refused = try decode(text)
            serializer.readingOptions = .fragmentsAllowed
            let accepted = try decode(text)

            #expect(refused.object == nil && refused.error != nil)
            #expect((accepted.object as? NSObject)?.isEqual(value) == true)
            #expect(accepted.error == nil)
        }
        #expect(try decode("null").object is NSNull)
    }

    @Test("14 responses: removing nulls keeps containers mutable if they are to be", arguments: [true, false])
    func mutability(_ isMutable: Bool) throws {
        serializer.readingOptions = isMutable ? .mutableContainers : []
        #expect((try decode("{}").object is NSMutableDictionary) == isMutable)
        serializer.removesKeysWithNullValues = true

        let (object, _) = try decode(#"{"a":[null,{"b":null}]}"#)

        #expect((object is NSMutableDictionary) == isMutable)
        let inner = (object as? NSDictionary)?["a"] as? NSArray
        #expect(inner?.count == 1)
        #expect((inner?[0] as? NSDictionary)?.count == 0)
    }

    @Test("9.1 nulls are removed from anything")
    func removal() {
        #expect(JSONResponseSerializer.removingKeysWithNullValues(from: "text") as? String == "text")
        #expect((JSONResponseSerializer.removingKeysWithNullValues(from: [NSNull(), 1]) as? [Int]) == [1])
        let keys: [AnyHashable: Any] = [1: NSNull(), "a": ["b": NSNull()]]
        let kept = JSONResponseSerializer.removingKeysWithNullValues(from: keys) as? [AnyHashable: Any]
        #expect(kept?.count == 1)
        #expect((kept?["a"] as? [String: Any])?.isEmpty == true)
        #expect(
            JSONResponseSerializer.removingKeysWithNullValues(from: [1], readingOptions: .mutableContainers)
                is NSMutableArray
        )
    }
}
