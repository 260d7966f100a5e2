import Testing

@testable import AFState

@Suite("Words of netrc files")
struct NetrcReaderTests {
    private static func machines(_ bytes: [UInt8]) throws -> [NetrcReader.Machine] {
        var reader = NetrcReader(bytes)
        var machines: [NetrcReader.Machine] = []
        while let machine = try reader.next() { machines.append(machine) }
        return machines
    }

    private static func read(_ text: String) throws -> [String] {
        try machines(Array(text.utf8)).map { machine in
            [machine.name, machine.user, machine.password]
                .map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "-" }
                .joined(separator: " ")
        }
    }

    private static func line(of bytes: [UInt8]) -> Int? {
        do throws(NetrcReader.Misunderstanding) {
            var reader = NetrcReader(bytes)
            while try reader.next() != nil {}
            return nil
        } catch {
            return error.line
        }
    }

    @Test(
        arguments: [
            ("", []), (" \n\t", []), ("# only a remark", []), ("#", []), ("# one\n# two\nmachine a", ["a - -"]),
            ("machine a machine b login v", ["a - -", "b v -"]), ("default login u", ["- u -"]),
            ("machine a login u default machine b", ["a u -", "- - -", "b - -"]),
            ("machine a account x login u", ["a u -"]), ("machine a login u login v", ["a v -"]),
            ("machine a macdef m\nlogin no\n\nlogin u", ["a u -"]),
            ("machine a macdef m\r\nlogin no\r\n\r\nlogin u", ["a u -"]),
            ("machine a macdef m\n\nlogin u", ["a u -"]), ("machine a macdef", ["a - -"]),
            ("machine a macdef m\nx", ["a - -"]),
            ("machine a macdef m\n\r", ["a - -"]), ("machine a login \"u \\\" \\\\\"password p", ["a u \" \\ p"]),
            ("machine a login u#v password p", ["a u#v p"]), ("machine\u{0B}a\u{0C}login u", ["a u -"]),
            ("machine a\u{08}b", ["a\u{08}b - -"]), ("machine a\u{0E}b", ["a\u{0E}b - -"]),
        ] as [(String, [String])]
    )
    func `words are told apart by blanks, quotation marks and remarks`(text: String, expected: [String]) throws {
        #expect(try Self.read(text) == expected)
    }

    @Test(arguments: [
        ("wrong", 1), ("\n\nwrong", 3), ("# one\n# two\nwrong", 3), ("machine a\nmacdef m\nx\n\nwrong", 5),
        ("machine a\nmacdef m\r\n\r\nwrong", 4), ("machine a login\n\n", 1), ("login u", 1), ("machine a\n\"log", 2),
        ("machine a login \"\n\"", 1), ("machine a login \"\\\n\"", 1), ("machine a login \"u\\", 1),
        ("machine a\nlogin\nu\u{0}", 3), ("machine a\nlogin \"\u{0}\"", 2),
    ])
    func `what is not understood has its line`(text: String, line: Int) {
        #expect(Self.line(of: Array(text.utf8)) == line)
    }

    @Test func `bytes that are no text are not understood`() throws {
        for word in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            #expect(Self.line(of: Array("machine a\nlogin ".utf8) + word) == 2)
            #expect(Self.line(of: Array("machine a\nlogin \"".utf8) + word + Array("\"".utf8)) == 2)
        }
    }
}
