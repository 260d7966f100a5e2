import AFFaults
import AFWire
import Testing

struct RequestURLPropertyTests {
    private static let targetBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?%".utf8
    )

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `T-REQ-04 every target of a random URL fits the grammar of a request line`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<3000 {
            let text = Self.randomURL(&random)
            guard let url = try? RequestURL(text) else { continue }
            accepted += 1
            let fits = url.target.first == UInt8(ascii: "/") && url.target.allSatisfy(Self.targetBytes.contains)
            #expect(fits, "\(text.debugDescription)")
            #expect(Self.percentSignsBeginTriplets(url.target), "\(text.debugDescription)")
        }
        #expect(accepted > 500)
    }

    @Test(arguments: [5, 6] as [UInt64])
    func `T-REQ-07 a mutated URL is refused or read as a second parser reads it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var compared = 0
        for _ in 0..<3000 {
            let text = Self.mutated(URLCorpus.accepted.randomElement(using: &random)?.url ?? "", &random)
            guard let url = try? RequestURL(text), let second = SecondParser(text) else { continue }
            compared += 1
            #expect(second == SecondParser(url.endpoint), "\(text.debugDescription)")
        }
        #expect(compared > 500)
    }

    @Test func `T-REQ-04 a target parsed again stays as it is`() throws {
        for entry in URLCorpus.accepted {
            let once = try RequestURL(entry.url)

            let twice = try RequestURL(once.text)

            #expect(twice.target == once.target)
            #expect(twice.endpoint == once.endpoint || once.endpoint.host.zone != nil)
        }
    }

    @Test func `T-REQ-27 a URL of 64 KiB passes and one byte more does not`() throws {
        let start = "http://h/"
        let longest = start + String(repeating: "a", count: RequestURL.maximumLength - start.utf8.count)

        #expect(try RequestURL(longest).target.count == longest.utf8.count - 8)
        let error = #expect(throws: RequestRejection.self) { try RequestURL(longest + "a") }
        #expect(error?.rule == .tooLong)
    }

    @Test(arguments: ["/..", "/a", "%", "%41", "ü", "?", "[", "//", "@", ":", ".", "a."])
    func `T-REQ-27 the longest URL of any shape costs linear time`(piece: String) {
        let room = RequestURL.maximumLength - 16
        let repeated = String(repeating: piece, count: room / piece.utf8.count)

        let cost = CPUTime.of {
            _ = try? RequestURL("http://h/" + repeated)
            _ = try? RequestURL("http://" + repeated)
            _ = try? RequestURL("http://[" + repeated + "]/")
        }

        #expect(cost < CPUTime.limitFor64KiB * 3)
    }

    private static func percentSignsBeginTriplets(_ bytes: [UInt8]) -> Bool {
        let hex = Set("0123456789abcdefABCDEF".utf8)
        return bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "%") else { return true }
            return index + 2 < bytes.count && hex.contains(bytes[index + 1]) && hex.contains(bytes[index + 2])
        }
    }

    private static func randomURL(_ random: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: 0...24, using: &random)).map { _ in
            Unicode.Scalar(UInt32.random(in: 0x20...0x17F, using: &random)) ?? " "
        }
        var text = String(String.UnicodeScalarView(scalars))
        if Int.random(in: 0..<20, using: &random) == 0 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0...0x1F, using: &random)))
        }
        let start = ["http://h/", "https://h.test:8080/a?", "http://127.0.0.1", "http://[::1]?x="]
        return (start.randomElement(using: &random) ?? "") + text
    }

    private static func mutated(_ text: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        let alphabet = Array(":/?#[]@%.\\-_09afAFxX +\u{7F}".utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let position = Int.random(in: 0...bytes.count, using: &random)
            let byte = alphabet.randomElement(using: &random) ?? 0x20
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.insert(byte, at: position)
            case 1 where position < bytes.count: bytes[position] = byte
            default: if position < bytes.count { bytes.remove(at: position) }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
