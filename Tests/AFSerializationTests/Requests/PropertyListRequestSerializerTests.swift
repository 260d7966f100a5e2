@Suite("Requests with property lists")
struct PropertyListRequestSerializerTests {
    private final class Thing {}

    private let serializer = PropertyListRequestSerializer()

    private func read(_ request: URLRequest) throws -> [String: Any]? {
        let body = try #require(request.httpBody)
        return try PropertyListSerialization.propertyList(from: body, options: [], format: nil) as? [String: Any]
    }

    @Test("13.3 a dictionary is written in XML")
    func dictionary() throws {
        let request = try serializer.post(["key": "value"])

        #expect(request.contentType == "application/x-plist")
        #expect(request.bodyText?.hasPrefix("<?xml") == true)
        #expect(try read(request)?["key"] as? String == "value")
    }

    @Test("13.3 a key that is no text is an error")
    func numberKey() {
        for parameters in [[42: "value"] as Any, NSDictionary(dictionary: [NSNumber(value: 42): "value"])] {
            let error = serializer.failure(parameters)
            #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1016)
        }
    }

    @Test(
        "all that property lists have is written, in both formats",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary]
    )
    func valid(format: PropertyListSerialization.PropertyListFormat) throws {
        let date = Date(timeIntervalSinceReferenceDate: 86_400)
        serializer.format = format
        let parameters: [String: Any] = [
            "a": true, "b": -1, "c": 1.5, "d": date, "e": Data([1, 2]), "f": ["x", "é<&"],
            "g": ["h": NSString(string: "s")],
            "i": NSDate(timeIntervalSinceReferenceDate: 0), "j": NSNumber(value: 7), "k": Optional<Int>.some(2) as Any,
        ]

        let request = try serializer.post(parameters)
        let list = try #require(try read(request))

        #expect(list["a"] as? Bool == true && list["b"] as? Int == -1 && list["c"] as? Double == 1.5)
        #expect(
            list["d"] as? Date == date && list["e"] as? Data == Data([1, 2]) && list["f"] as? [String] == ["x", "é<&"]
        )
        #expect((list["g"] as? [String: String])?["h"] == "s" && list["j"] as? Int == 7 && list["k"] as? Int == 2)
        #expect(request.httpBody?.starts(with: Data("bplist".utf8)) == (format == .binary))
    }

    @Test(
        "what property lists do not have is an error, and does not end the program",
        arguments: [
            ["k": Double.nan], ["k": Set([1])], ["k": UUID()], ["k": [1: "a"]], ["k": UInt64.max],
            ["k": Decimal(1)], ["k": [1, nil] as [Int?]], [Set([1])], Set([1]),
        ] as [any Sendable]
    )
    func invalid(parameters: any Sendable) {
        #expect(serializer.failure(parameters)?.code == -1016)
    }

    @Test("objects that property lists do not have are errors, too")
    func invalidObjects() {
        let objects: [Any] = [
            NSNull(), [NSNull()], NSSet(), Thing(), [Thing()], NSObject(), [NSDecimalNumber.notANumber],
            NSArray(array: [NSNumber(value: Double.infinity)]),
        ]

        for object in objects { #expect(serializer.failure(object)?.code == -1016, "\(type(of: object))") }
    }

    @Test("text that XML cannot have is an error there, and none in the binary format")
    func controls() throws {
        for text in ["a\u{0}", "\u{1}", "\u{FFFE}", "\u{1B}[0m"] {
            serializer.format = .xml
            #expect(serializer.failure(["k": text])?.code == -1016)
            #expect(serializer.failure([text: "v"])?.code == -1016)
            serializer.format = .binary
            #expect(try read(serializer.post(["k": text]))?["k"] as? String == text)
        }
        serializer.format = .xml
        #expect(try read(serializer.post(["k": "a\tb\ncé😀"]))?["k"] as? String == "a\tb\ncé😀")
    }

    @Test("a format that cannot be written is an error")
    func openStep() {
        serializer.format = .openStep

        #expect(serializer.failure(["a": "b"])?.localizedDescription.contains("OpenStep") == true)
    }

    @Test("without parameters there is neither body nor content type, and queries are as ever")
    func none() throws {
        let request = try serializer.post(nil)

        #expect(request.httpBody == nil && request.contentType == nil)
        #expect(try serializer.get(["a": 1]).url?.query == "a=1")
    }
}
