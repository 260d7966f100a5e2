/// Bodies that servers send to break programs.
@Suite struct HostileJSONTests {
    private static func nested(_ depth: Int, _ opening: String, _ closing: String) -> Data {
        Data((String(repeating: opening, count: depth) + String(repeating: closing, count: depth)).utf8)
    }

    /// The result for a body on a thread with little stack: "object", or the error's code. The object is released
    /// there, too.
    private static func outcome(_ serializer: HTTPResponseSerializer, _ body: Data) throws -> String {
        serializer.acceptableContentTypes = nil
        let response = try makeResponse()
        return onSmallStack {
            let (object, error) = serializer.serialize(response, data: body)
            return (error as NSError?).map { "\($0.code)" } ?? (object == nil ? "nothing" : "object")
        }
    }

    private static func cleaning() -> JSONResponseSerializer {
        let serializer = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        serializer.removesKeysWithNullValues = true
        return serializer
    }

    // MARK: - Depth

    @Test("JSON of 512 levels is decoded on a small stack, more is an error, T-RES-09")
    func depth() throws {
        for (opening, closing) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"b":"#, "}]")] {
            let levels = opening.count { "[{".contains($0) }
            let body = { Self.nested($0 / levels, opening, closing) }
            // An object needs a value.
            let fill = { (data: Data) in Data(String(decoding: data, as: UTF8.self).replacing(":}", with: ":1}").utf8) }

            #expect(try Self.outcome(Self.cleaning(), fill(body(512))) == "object")
            #expect(
                try Self.outcome(JSONResponseSerializer(readingOptions: .mutableContainers), fill(body(512)))
                    == "object"
            )
            #expect(try Self.outcome(Self.cleaning(), fill(body(514))) == "3840")
            #expect(try Self.outcome(Self.cleaning(), fill(body(200_000))) == "3840")
        }
        #expect(try Self.outcome(Self.cleaning(), Data(String(repeating: "[", count: 5_000_000).utf8)) == "3840")
    }

    @Test("brackets within strings are no levels, T-RES-09")
    func brackets() throws {
        let text = #"["\#(String(repeating: "[", count: 2000))\"[", "\\", "["]"#

        #expect(try Self.outcome(Self.cleaning(), Data(text.utf8)) == "object")
    }

    indirect enum Tree: Decodable {
        case node([Tree])

        init(from decoder: any Decoder) throws {
            self = .node(try decoder.singleValueContainer().decode([Tree].self))
        }
    }

    @Test("recursive types are decoded on a small stack, and are an error beyond 128 levels, T-RES-09")
    func recursiveTypes() throws {
        let serializer = DecodingResponseSerializer(Tree.self)

        #expect(try Self.outcome(serializer, Self.nested(128, "[", "]")) == "object")
        for depth in [129, 512, 513, 100_000] {
            #expect(try Self.outcome(serializer, Self.nested(depth, "[", "]")) == "3840")
        }
    }

    @Test("removing nulls from objects of any depth ends, T-RES-09")
    func deepObjects() {
        let outcome = onSmallStack {
            var object: Any = NSNull()
            for _ in 0..<600 { object = [object] as [Any] }
            return JSONResponseSerializer.removingKeysWithNullValues(from: object) is [Any] ? "array" : "else"
        }

        #expect(outcome == "array")
    }

    // MARK: - Text

    @Test(
        "numbers of any size, keys that are equal and text that is cut off trap nothing, T-RES-09",
        arguments: [
            "[1e999999999]", "[-1e999999999]", "[1e-999999999]", "[0.0000000000000000000000000000000000001]",
            "[99999999999999999999999999]", "[-99999999999999999999999999]", "[9223372036854775808]",
            "[18446744073709551616]", "[-0]", "[-]", "[+1]", "[01]", "[1.]", "[.5]", "[1e]", "[1e+]", "[NaN]",
            "[Infinity]", #"{"a":1,"a":2}"#, #"{"a":1,"A":2}"#, #"{"":{"":{}}}"#, "[", "{", #"{"a"#, #"{"a""#,
            #"{"a":"#,
            #"["\"#, #"["\u"#, #"["\u12"#, #"["\ud800"]"#, #"["\ud800\u0041"]"#, #"["\udc00"]"#, #"["\u0000"]"#,
            "[\"\u{0}\"]", "\u{0}", "\u{0}\u{0}", "\u{0}[", "[\u{0}", "[\u{0}\u{0}\u{0}", "nul", "tru", "t", "f", "n",
            "\"",
            "[1,]", "[,1]", "{,}", #"{"a":1,}"#, "[1 2]", "[]]", "//", "/**/[]", "[1]\u{0}", "\u{FEFF}", "\u{FEFF} ",
        ]
    )
    func oddText(_ text: String) throws {
        for padding in ["", String(repeating: " ", count: 40)] {
            let body = Data((text + padding).utf8)
            _ = try Self.outcome(Self.cleaning(), body)
            _ = try Self.outcome(DecodingResponseSerializer([String: Double].self), body)
            _ = try Self.outcome(DecodingResponseSerializer([Int].self), body)
        }
    }

    @Test("of equal keys the last one counts, T-RES-09")
    func equalKeys() throws {
        let (object, _) = serialized(
            JSONResponseSerializer(),
            try makeResponse(type: "text/json"),
            #"{"a":1,"b":2,"a":3}"#
        )

        #expect(object as? [String: Int] == ["a": 3, "b": 2])
    }

    @Test("numbers that are too large do not become infinity, T-RES-09")
    func hugeNumbers() throws {
        let (object, error) = serialized(
            JSONResponseSerializer(),
            try makeResponse(type: "text/json"),
            "[1e999999999]"
        )

        #expect(error != nil || ((object as? [NSNumber])?.first?.doubleValue.isFinite ?? true))
    }

    @Test("every body that is cut off or has a byte changed is decoded or an error, T-RES-09")
    func mutations() throws {
        let text = Data(#"{"key":["value\u00e9\ud83d\ude00",-1.5e3,true,null,{"n":{}}],"ü":"\\\""}"#.utf8)
        let cleaning = Self.cleaning()
        let decoding = DecodingResponseSerializer([String: [String]].self)
        let response = try makeResponse(type: "text/json")

        for index in text.indices {
            for byte in [0x00, 0x22, 0x5C, 0x5B, 0x7D, 0x80, 0xC3, 0xED, 0xF4, 0xFF] as [UInt8] {
                var body = text
                body[index] = byte
                for body in [body, text[..<index] + [byte]] {
                    _ = cleaning.serialize(response, data: body)
                    _ = decoding.serialize(response, data: body)
                }
            }
        }
        #expect(cleaning.serialize(response, data: text).error == nil)
    }

    // MARK: - Encodings

    static let marks: [(String.Encoding, [UInt8])] = [
        (.utf8, [0xEF, 0xBB, 0xBF]), (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
        (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]), (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ]

    @Test("all encodings of JSON are read, with a byte order mark and without, T-MSG-55")
    func encodings() throws {
        let text = #"{"k":"存é😀[\u5b58"}"#
        for (encoding, mark) in Self.marks {
            let bytes = try #require(text.data(using: encoding))
            for body in [bytes, Data(mark) + bytes] {
                let response = try makeResponse(type: "application/json; charset=bogus")
                let (object, error) = JSONResponseSerializer().serialize(response, data: body)
                let value = try DecodingResponseSerializer([String: String].self).value(for: response, data: body)

                #expect(error == nil)
                #expect(object as? [String: String] == ["k": "存é😀[存"])
                #expect(value == ["k": "存é😀[存"])
            }
        }
    }

    @Test("text that is not valid in its encoding is an error, T-MSG-55")
    func invalidEncodings() throws {
        let quote = Data("[\"".utf8)
        let bodies: [Data] = [
            quote + [0xFF, 0x22, 0x5D], quote + [0xC0, 0xAF, 0x22, 0x5D], quote + [0xED, 0xA0, 0x80, 0x22, 0x5D],
            quote + [0xE2, 0x82, 0x22, 0x5D], Data([0xFF, 0xFE, 0x5B]), Data([0xFE, 0xFF, 0, 0x5B, 0]),
            Data([0xFF, 0xFE, 0x5B, 0, 0x22, 0, 0, 0xD8, 0x22, 0, 0x5D, 0]),
            Data([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x5B, 0, 0x11, 0, 0, 0, 0, 0, 0x5D]), Data([0, 0, 0, 0]), Data([0, 0, 0]),
            Data([0xFF]), Data([0xFE]), Data([0xEF, 0xBB]),
        ]
        for body in bodies {
            #expect(try Self.outcome(Self.cleaning(), body) == "3840", "\(Array(body))")
        }
        #expect(try Self.outcome(Self.cleaning(), Data([0xEF, 0xBB, 0xBF])) == "nothing")
    }
}
