@Suite("Requests with JSON")
struct JSONRequestSerializerTests {
    private struct Person: Encodable {
        var name: String
        var age: Int?
        var tags: [String] = []
    }

    private final class Thing {}

    private let serializer = JSONRequestSerializer(writingOptions: .sortedKeys)

    @Test("13.3 a dictionary")
    func dictionary() throws {
        let request = try serializer.post(["key": "value"])

        #expect(request.contentType == "application/json")
        #expect(request.bodyText == #"{"key":"value"}"#)
    }

    @Test("13.3 an array")
    func array() throws {
        #expect(try serializer.post([["key": "value"]]).bodyText == #"[{"key":"value"}]"#)
    }

    @Test("13.3 14 requests: a set within is an error")
    func set() {
        for parameters in [["key": Set(["value"])], ["key": NSSet(array: ["value"])]] as [[String: Any]] {
            let error = serializer.failure(parameters)

            #expect(error?.domain == "com.alamofire.error.serialization.request")
            #expect(error?.code == -1016)
            #expect(error?.localizedFailureReason == "The `parameters` argument is not valid JSON.")
        }
    }

    @Test("13.3 a lone surrogate does not get into a request")
    func loneSurrogate() throws {
        // On Linux `NSString` holds a Swift string, which has no lone surrogates: it is replaced when the string is
        // made.
        let units: [unichar] = [0x61, 0xD800, 0x62]

        let request = try serializer.post([NSString(characters: units, length: units.count)])

        #expect(request.bodyText == "[\"a\u{FFFD}b\"]")
    }

    @Test(
        "T-REQ-24 14 requests: what is no JSON is an error, and does not end the program",
        arguments: [
            ["k": Double.nan], ["k": Double.infinity], ["k": -Float.infinity], ["k": CGFloat.nan], ["k": Decimal.nan],
            ["k": Date()], ["k": Data([1])], ["k": UUID()], ["k": [1: "a"]], ["k": [["x": Set([1])]]], [1: "a"],
            Set(["a"]), "text", 5, true, Double.nan, Date(), [[Double.nan]], [Date()],
        ] as [any Sendable]
    )
    func invalid(parameters: any Sendable) {
        let error = serializer.failure(parameters)

        #expect(error?.code == -1016 && error?.domain == HTTPRequestSerializer.errorDomain)
    }

    @Test("14 requests: objects of Foundation that are no JSON are errors, too")
    func invalidObjects() {
        let objects: [Any] = [
            NSNull(), NSNumber(value: 1), NSString(string: "a"), NSSet(), NSDate(), Thing(), NSObject(),
            NSArray(array: [NSNumber(value: Double.nan)]), NSArray(array: [NSDecimalNumber.notANumber]),
            NSArray(array: [NSDate()]), NSDictionary(dictionary: [NSNumber(value: 1): "a"]), [Thing()], [NSObject()],
        ]

        for object in objects {
            let error = serializer.failure(object)
            #expect(error?.code == -1016, "\(type(of: object))")
        }
    }

    @Test("all that JSON has is written")
    func valid() throws {
        let parameters: [String: Any] = [
            "a": NSNull(), "b": true, "c": -1, "d": 1.5, "e": UInt64.max, "f": ["x", nil] as [String?],
            "g": ["h": NSNumber(value: false)], "i": "é\"\\\n\u{0}", "j": NSString(string: "s"),
            "k": Optional<Int>.none as Any, "l": Optional<Int>.some(2) as Any, "m": Int8(3), "n": "ab".dropFirst(),
            "o": NSArray(array: [1]), "p": NSDictionary(dictionary: ["q": 2]), "r": CGFloat(2.5),
        ]

        let text = try #require(try serializer.post(parameters).bodyText)

        #expect(
            text.hasPrefix(
                #"{"a":null,"b":true,"c":-1,"d":1.5,"e":18446744073709551615,"f":["x",null],"g":{"h":false}"#
            )
        )
        let read = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(read["i"] as? String == "é\"\\\n\u{0}" && read["j"] as? String == "s" && read["n"] as? String == "b")
        #expect(read["k"] is NSNull && read["l"] as? Int == 2 && read["m"] as? Int == 3)
        #expect(read["o"] as? [Int] == [1] && read["p"] as? [String: Int] == ["q": 2] && read["r"] as? Double == 2.5)
    }

    @Test("T-REQ-24 what is nested too deep is an error")
    func depth() throws {
        var deep: Any = [Any]()
        for _ in 0..<2000 { deep = [deep] }

        #expect(serializer.failure(deep)?.code == -1016)
    }

    @Test("without parameters there is neither body nor content type")
    func none() throws {
        let request = try serializer.post(nil)

        #expect(request.httpBody == nil && request.contentType == nil)
        #expect(request.value(forHTTPHeaderField: "User-Agent") != nil)
    }

    @Test("in a query parameters are as ever")
    func query() throws {
        let request = try serializer.get(["a": Set([1, 2])])

        #expect(request.url?.query == "a=1&a=2")
        #expect(request.httpBody == nil && request.contentType == nil)
        #expect(try serializer.get("text").url?.query == "=text")
    }

    @Test("writing options are used")
    func options() throws {
        serializer.writingOptions = [.prettyPrinted]

        #expect(try serializer.post(["a": 1]).bodyText?.contains("\n") == true)
    }

    @Test("a value of a type of one's own is encoded, in the body and in the query")
    func encodable() throws {
        let person = Person(name: "Ada", age: 36, tags: ["a", "b"])

        let body = try #require(try serializer.post(person).httpBody)
        let read = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])

        #expect(
            read["name"] as? String == "Ada" && read["age"] as? Int == 36 && read["tags"] as? [String] == ["a", "b"]
        )
        #expect(try serializer.get(person).url?.query == "age=36&name=Ada&tags%5B%5D=a&tags%5B%5D=b")
        #expect(try serializer.get(Date(timeIntervalSince1970: 0)).url?.query?.contains("1970") == true)
    }

    @Test("a request of one serializer may be made by many threads")
    func concurrent() async {
        let serializer = serializer
        let texts = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    serializer.writingOptions = .sortedKeys
                    return try? serializer.post(["a": 1, "b": [true]]).bodyText
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }

        #expect(texts == [#"{"a":1,"b":[true]}"#])
    }
}
