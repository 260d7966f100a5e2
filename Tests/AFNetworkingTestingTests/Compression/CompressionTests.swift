import AFNetworkingTesting
import Testing

@Suite(.enabled(if: Inflater.isThere)) struct CompressionTests {
    private static let formats: [(ContentCoding, Inflater.Format)] = [
        (.gzip, .gzip), (.zlib, .zlib), (.rawDeflate, .raw),
    ]

    private let inflater: Inflater

    init() throws {
        inflater = try #require(Inflater())
    }

    private static func samples() -> [[UInt8]] {
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<36_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let text = Array(String(repeating: "the quick brown fox, the lazy dog; ", count: 100).utf8)
        let gaps = Array("abc".utf8) + noise + Array("abc".utf8)
        return [[], [0], Array("abcabcabc".utf8), Array(0...255), text, gaps, [UInt8](repeating: 7, count: 1_000)]
    }

    @Test func `compressed and stored bytes decompress to the same bytes`() throws {
        for sample in Self.samples() {
            for (coding, format) in Self.formats {
                for packed in [coding.encode(sample), coding.store(sample)] {
                    let (bytes, surplus) = try inflater.inflate(packed, format)
                    #expect(bytes == sample)
                    #expect(surplus == 0)
                }
            }
        }
        #expect(ContentCoding.gzip.encode(Self.samples()[4]).count < 200)
    }

    @Test func `bytes longer than a stored block make several blocks`() throws {
        let sample = [UInt8](repeating: 9, count: 140_000)
        let packed = ContentCoding.rawDeflate.store(sample)
        #expect(packed.count == 140_000 + 3 * 5)
        #expect(try inflater.inflate(packed, .raw).bytes == sample)
    }

    @Test func `a bomb of any size is that many zeros, compressed 1000 to 1`() throws {
        for count in [0, 1, 2, 257, 258, 259, 260, 1_031, 1_032, 1_033, 100_003] {
            for (coding, format) in Self.formats {
                let packed = try bytes(of: .bomb(coding, count: count))
                let (bytes, surplus) = try inflater.inflate(packed, format)
                #expect(bytes == [UInt8](repeating: 0, count: count), "\(count) as \(coding)")
                #expect(surplus == 0)
                #expect(packed.count < count / 1_000 + 150)
            }
        }
    }

    @Test func `a bomb of terabytes is made at once`() throws {
        let count = try #require(ReplyBody.bomb(.gzip, count: 1 << 42).count)

        #expect(count > (1 << 42) / 1_040)
        #expect(count < (1 << 42) / 1_025)
    }

    private func bytes(of body: ReplyBody) throws -> [UInt8] {
        let server = try TestServer()
        server.route("GET", "/", .stream(body))
        return try Visit(server, "/").body
    }

    // MARK: - Routes

    private func visit(_ target: String, method: String = "GET") throws -> Visit {
        let server = try TestServer()
        server.install(.compression)
        return try Visit(server, target, method: method)
    }

    @Test(arguments: [("gzip", Inflater.Format.gzip), ("deflate", .zlib), ("raw-deflate", .raw)])
    func `the plain routes answer with the request`(name: String, format: Inflater.Format) throws {
        let reply = try visit("/\(name)?a=1", method: "POST")

        #expect(reply.status == 200)
        #expect(reply["content-encoding"] == (name == "gzip" ? "gzip" : "deflate"))
        let text = String(decoding: try inflater.inflate(reply.body, format).bytes, as: UTF8.self)
        #expect(text.contains("\"args\": {\"a\": \"1\"}"))
        #expect(text.contains("\"method\": \"POST\""))
    }

    @Test(arguments: [("gzip", Inflater.Format.gzip), ("deflate", .zlib), ("raw-deflate", .raw)])
    func `every kind of body has its defect`(name: String, format: Inflater.Format) throws {
        let alphabet = (0..<5_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        func kind(_ kind: String, _ query: String = "") throws -> Visit {
            try visit("/compressed/\(name)/\(kind)?size=5000\(query)")
        }
        #expect(try inflater.inflate(kind("plain").body, format).bytes == alphabet)
        #expect(try inflater.inflate(kind("stored").body, format).bytes == alphabet)
        #expect(try kind("stored").body.count > 5_000)

        var rest = try kind("members").body
        var members: [[UInt8]] = []
        while !rest.isEmpty {
            let (bytes, surplus) = try inflater.inflate(rest, format)
            members.append(bytes)
            rest = rest.suffix(surplus)
        }
        #expect(members.count == 3)
        #expect(Array(members.joined()) == alphabet)

        let whole = try kind("plain").body
        #expect(try kind("truncated").body == Array(whole.dropLast(10)))
        #expect(try kind("truncated", "&cut=1").body == Array(whole.dropLast(1)))
        #expect(throws: Inflater.Failure.self) { try inflater.inflate(kind("truncated").body, format) }
        let corrupt = try kind("corrupt").body
        #expect(zip(corrupt, whole).filter { $0 != $1 }.count == 1)
        if format != .raw { #expect(throws: Inflater.Failure(code: -3)) { try inflater.inflate(corrupt, format) } }
        #expect(try inflater.inflate(kind("surplus").body, format).surplus == 13)
        #expect(try kind("uncompressed").body == alphabet)
        #expect(try kind("uncompressed")["content-encoding"] != nil)
        #expect(try kind("empty").body.isEmpty)
        #expect(try kind("unannounced")["content-encoding"] == nil)
        #expect(try inflater.inflate(kind("unannounced").body, format).bytes == alphabet)

        let twice = try kind("twice")
        let token = name == "gzip" ? "gzip" : "deflate"
        #expect(twice["content-encoding"] == "\(token), \(token)")
        let inner = try inflater.inflate(twice.body, format).bytes
        #expect(try inflater.inflate(inner, format).bytes == alphabet)

        #expect(try kind("bomb").body.count < 200)
        #expect(try inflater.inflate(kind("bomb").body, format).bytes == [UInt8](repeating: 0, count: 5_000))
        #expect(try kind("unheard-of").status == 400)
    }
}
