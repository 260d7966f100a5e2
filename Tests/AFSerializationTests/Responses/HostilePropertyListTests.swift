/// Property lists that servers send to break programs.
@Suite struct HostilePropertyListTests {
    private static func outcome(_ body: Data, _ options: PropertyListSerialization.ReadOptions = []) throws -> String {
        let serializer = PropertyListResponseSerializer(format: .binary, readOptions: options)
        serializer.acceptableContentTypes = nil
        let response = try makeResponse()
        return onSmallStack {
            let (object, error) = serializer.serialize(response, data: body)
            return (error as NSError?).map { "\($0.code)" } ?? (object == nil ? "nothing" : "object")
        }
    }

    /// A binary list of these objects, of which the first is the top one. References are of two bytes.
    private static func binary(_ objects: [[UInt8]], top: Int = 0) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets.flatMap { big($0, 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 2] + big(objects.count, 8) + big(top, 8) + big(table, 8)
        return Data(bytes)
    }

    private static func array(_ members: [Int]) -> [UInt8] {
        let length: [UInt8] = members.count < 15 ? [0xA0 | UInt8(members.count)] : [0xAF, 0x11] + big(members.count, 2)
        return length + members.flatMap { big($0, 2) }
    }

    private static func dictionary(_ key: Int, _ value: Int) -> [UInt8] { [0xD1] + big(key, 2) + big(value, 2) }

    private static func big(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// Arrays within each other, each with so many members.
    private static func nestedArrays(_ depth: Int, members: Int = 1) -> Data {
        binary((0..<depth).map { level in array(Array(repeating: level + 1, count: members)) } + [[0x09]])
    }

    @Test("binary lists of 128 levels are read on a small stack, more is an error, T-RES-09")
    func binaryDepth() throws {
        #expect(try Self.outcome(Self.nestedArrays(128)) == "object")
        #expect(try Self.outcome(Self.nestedArrays(128), .mutableContainersAndLeaves) == "object")
        for depth in [129, 1000, 60_000] {
            #expect(try Self.outcome(Self.nestedArrays(depth)) == "3840")
        }
        // The last member of 256 leads on: Foundation keeps all of them on the stack.
        let wide = (0..<128).map { level in Self.array(Array(repeating: 128, count: 255) + [level + 1]) }
        #expect(try Self.outcome(Self.binary(wide + [[0x09]])) == "object")
        let dictionaries = (0..<128).map { level in Self.dictionary(129, level + 1) }
        #expect(try Self.outcome(Self.binary(dictionaries + [[0x09], [0x51, 0x61]])) == "object")
    }

    @Test("binary lists that name the same arrays again and again are an error, T-RES-09")
    func binaryBombs() throws {
        #expect(try Self.outcome(Self.nestedArrays(10, members: 10)) == "3840")
        #expect(try Self.outcome(Self.nestedArrays(127, members: 255)) == "3840")
        #expect(try Self.outcome(Self.nestedArrays(2, members: 4)) == "object")
    }

    @Test("arrays that share the bytes of their members are not all read, T-RES-09", .timeLimit(.minutes(2)))
    func binaryOverlaps() throws {
        // 20 000 arrays, of which each names as its members what follows, the other arrays among it. All that are named
        // are one and the same truth value.
        let (count, members, objects) = (20_000, 45_000, 65_001)
        var bytes = Array("bplist00".utf8)
        let arrays = bytes.count
        for _ in 0..<count { bytes += [0xAF, 0x12] + Self.big(members, 4) }
        bytes += [UInt8](repeating: 0, count: 2 * members)
        let leaf = bytes.count
        bytes.append(0x09)
        let top = bytes.count
        bytes += [0xAF, 0x12] + Self.big(count, 4) + (1...count).flatMap { Self.big($0, 2) }
        let table = bytes.count
        for object in 0..<objects {
            let offset = (1...count).contains(object) ? arrays + 6 * (object - 1) : leaf
            bytes += Self.big(object == objects - 1 ? top : offset, 4)
        }
        bytes += [0, 0, 0, 0, 0, 0, 4, 2] + Self.big(objects, 8) + Self.big(objects - 1, 8) + Self.big(table, 8)

        #expect(try Self.outcome(Data(bytes)) == "3840")
    }

    @Test("binary lists that hold themselves are an error, T-RES-09")
    func binaryCycles() throws {
        #expect(try Self.outcome(Self.binary([Self.array([0])])) == "3840")
        #expect(try Self.outcome(Self.binary([Self.array([1]), Self.array([2]), Self.array([0])])) == "3840")
        #expect(try Self.outcome(Self.binary([Self.dictionary(1, 0), [0x51, 0x61]])) == "3840")
    }

    @Test("binary lists with any byte changed, and cut off anywhere, trap nothing, T-RES-09")
    func binaryMutations() throws {
        let list: [String: Any] = [
            "a": [1, 2.5, "text", Data([1])], "b": ["c": true, "ü": Date(timeIntervalSince1970: 0)],
        ]
        let body = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let serializer = PropertyListResponseSerializer()
        let decoder = DecodingResponseSerializer([String: [String]].self, decoder: PropertyListDecoder())
        let response = try makeResponse(type: "application/x-plist")

        for index in body.indices {
            for byte in [0x00, 0x0F, 0x10, 0x3F, 0x5F, 0x7F, 0x80, 0xA1, 0xAF, 0xC1, 0xD1, 0xDF, 0xFF] as [UInt8] {
                var changed = body
                changed[index] = byte
                _ = serializer.serialize(response, data: changed)
                _ = decoder.serialize(response, data: changed)
            }
            _ = serializer.serialize(response, data: body.prefix(index))
            _ = decoder.serialize(response, data: Data(body.prefix(index)))
        }
        #expect(serializer.serialize(response, data: body).error == nil)
    }

    @Test("lists in XML and of OpenStep are read on a small stack or are an error, T-RES-09")
    func textDepth() throws {
        let head = #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"#
        let forms: [(head: String, opening: String, middle: String, closing: String, tail: String)] = [
            (head, "<array>", "<true/>", "</array>", "</plist>"),
            (head, "<dict><key>a</key>", "<true/>", "</dict>", "</plist>"),
            ("", "(", "a", ")", ""),
            ("", "{ a = ", "b", "; }", ""),
        ]
        for (head, opening, middle, closing, tail) in forms {
            func body(_ depth: Int) -> Data {
                let repeated = { (text: String) in String(repeating: text, count: depth) }
                return Data((head + repeated(opening) + middle + repeated(closing) + tail).utf8)
            }
            #expect(try Self.outcome(body(100)) == "object", "\(opening)")
            #expect(try Self.outcome(body(100), .mutableContainersAndLeaves) == "object", "\(opening)")
            for depth in [500, 511, 512, 513] {
                let outcome = try Self.outcome(body(depth), .mutableContainersAndLeaves)
                #expect(outcome == "object" || outcome == "3840", "\(opening) \(depth): \(outcome)")
            }
            #expect(try Self.outcome(body(100_000)) == "3840", "\(opening)")
        }
    }

    @Test("what is no property list traps nothing, T-RES-09")
    func garbage() throws {
        let texts = [
            "b", "bplist00", "bplist00\u{0}", "<", "<plist", "<plist>", "<plist/>", "<plist></plist>", "<array>",
            "<dict><key>a",
            "<plist><integer>99999999999999999999999999999</integer></plist>", "<plist><real>1e99999</real></plist>",
            "<plist><date>9999999999-99-99T99:99:99Z</date></plist>", "<plist><data>!!!</data></plist>",
            "<plist><string>&#x0;&#xFFFFFFFF;&lol;</string></plist>", "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>",
            "\"", "\"\\", "\"\\U", "(", "{", "{a", "{a=", "<0", "<zz>", "/*", "//", "\u{0}", "\u{FEFF}", " ", "\n",
        ]
        for text in texts {
            _ = try Self.outcome(Data(text.utf8))
            _ = try Self.outcome(try #require(text.data(using: .utf16)))
        }
    }
}
