import AFLoop
import AFTestSupport
import AFWire
import CAFZlib
import Foundation

@testable import AFTransport

struct ContentDecoderTests {
    /// A file as servers send them, and what is to become of it. Nil: it is refused.
    struct File: CustomTestStringConvertible {
        let testDescription: String
        let coding: ContentCoding
        let bytes: Data
        let content: Data?

        init(_ name: String, _ coding: ContentCoding, _ bytes: Data, _ content: Data?) {
            testDescription = name
            self.coding = coding
            self.bytes = bytes
            self.content = content
        }
    }

    private static let hello = Data("hello, hello, hello".utf8)

    private static func changed(_ data: Data, at index: Int) -> Data {
        var copy = Data(data)
        copy[index < 0 ? copy.count + index : index] ^= 0x55
        return copy
    }

    static let files: [File] = {
        let gzip = Coded.gzip(hello)
        let zlib = Coded.zlib(hello)
        let raw = Coded.raw(hello)
        let name = Data("a name\0".utf8)
        let extra = Data([3, 0, 1, 2, 3])
        let dictionary = Data([0x78, 0x20]) + zlib.dropFirst(2)
        // The header's own checksum: the lower half of the CRC-32 of all before it.
        let header = Data([0x1F, 0x8B, 8, 2, 0, 0, 0, 0, 0, 3])
        let sum = header.withUnsafeBytes { crc32(0, $0.bindMemory(to: UInt8.self).baseAddress, uInt($0.count)) }
        let checked = Data([UInt8(sum & 0xFF), UInt8(sum >> 8 & 0xFF)])
        return [
            File("gzip", .gzip, gzip, hello),
            File("gzip of nothing", .gzip, Coded.gzip(Data()), Data()),
            File("no bytes at all", .gzip, Data(), Data()),
            File("two members", .gzip, gzip + gzip, hello + hello),
            File("an empty member between", .gzip, gzip + Coded.gzip(Data()) + gzip, hello + hello),
            File("trailing zeros", .gzip, gzip + Data(count: 700), hello),
            File("trailing text", .gzip, gzip + Data("garbage".utf8), nil),
            File("text after zeros", .gzip, gzip + Data(count: 3) + Data("x".utf8), nil),
            File("half a member behind a whole one", .gzip, gzip + gzip.dropLast(12), nil),
            File("wrong checksum", .gzip, changed(gzip, at: -6), nil),
            File("wrong length", .gzip, changed(gzip, at: -1), nil),
            File("no trailer", .gzip, gzip.dropLast(8), nil),
            File("half a trailer", .gzip, gzip.dropLast(3), nil),
            File("one byte", .gzip, gzip.prefix(1), nil),
            File("header only", .gzip, gzip.prefix(10), nil),
            File("plain text", .gzip, hello, nil),
            File("another method", .gzip, changed(gzip, at: 2), nil),
            File("reserved flags", .gzip, Coded.gzip(hello, flags: 0x80, fields: Data()), nil),
            File(
                "name, comment and extra field",
                .gzip,
                Coded.gzip(hello, flags: 0x1C, fields: extra + name + name),
                hello
            ),
            File("header with its checksum", .gzip, Coded.gzip(hello, flags: 2, fields: checked), hello),
            File("header with a wrong checksum", .gzip, Coded.gzip(hello, flags: 2, fields: Data([1, 2])), nil),
            File("endless name", .gzip, Coded.gzip(hello, flags: 8, fields: Data(repeating: 0x41, count: 5000)), nil),
            File("zlib as deflate", .deflate, zlib, hello),
            File("raw deflate", .deflate, raw, hello),
            File("wrong Adler sum", .deflate, changed(zlib, at: -1), nil),
            File("zlib cut", .deflate, zlib.dropLast(2), nil),
            File("raw deflate cut", .deflate, raw.dropLast(2), nil),
            File("one byte of deflate", .deflate, zlib.prefix(1), nil),
            File("a dictionary", .deflate, dictionary, nil),
            File("deflate and zeros", .deflate, zlib + Data(count: 9), hello),
            File("two deflate streams", .deflate, zlib + zlib, nil),
            File("gzip as deflate", .deflate, gzip, nil),
        ]
    }()

    @Test(arguments: files)
    func `T-RES-04 T-RES-05 a file is decoded or refused, in whatever pieces it comes`(file: File) {
        let whole = Decoding.all(file.bytes, [file.coding])
        #expect((whole.failure == nil) == (file.content != nil), "\(String(describing: whole.failure))")
        if let content = file.content { #expect(whole.output == content) }

        for cut in 0...file.bytes.count {
            let cutOnce = Decoding.all(file.bytes, [file.coding], pieces: [cut, 10_000])
            #expect(cutOnce.output == whole.output && cutOnce.failure == whole.failure, "cut at \(cut)")
        }
        for room in [1, 2, 7] {
            let dribbled = Decoding.all(file.bytes, [file.coding], pieces: [1], room: room)
            #expect(dribbled.output == whole.output && dribbled.failure == whole.failure, "by bytes, room \(room)")
        }
    }

    @Test func `cut anywhere, a long body becomes what it is in one piece, through any chain`() {
        var random = SeededGenerator(seed: 20)
        let text = Coded.text(200_000)
        let chains: [([ContentCoding], Data)] = [
            ([.gzip], Coded.gzip(text)),
            ([.deflate], Coded.raw(text)),
            ([.gzip, .deflate], Coded.zlib(Coded.gzip(text))),
            ([.deflate, .gzip, .gzip], Coded.gzip(Coded.gzip(Coded.zlib(text)))),
            (
                [.gzip, .gzip, .gzip, .deflate, .deflate],
                Coded.raw(Coded.raw(Coded.gzip(Coded.gzip(Coded.gzip(text)))))
            ),
        ]
        for (codings, body) in chains {
            for _ in 1...6 {
                let sizes = (0..<50).map { _ in Int(random.next() % 9000) }
                let room = Int(random.next() % 70_000) + 1
                let result = Decoding.all(body, codings, pieces: sizes, room: room)
                #expect(result.failure == nil && result.output == text && result.longestPiece <= room)
            }
        }
    }

    @Test func `T-RES-04 a body cut anywhere is an error and never a shorter body`() {
        let body = Coded.gzip(Coded.text(2000))
        for count in 1..<body.count {
            let result = Decoding.all(body.prefix(count), [.gzip])
            #expect(result.failure == .truncated(.gzip), "\(count) bytes")
        }
    }

    @Test func `T-RES-05 bytes changed at random never trap, and never pass as something else`() {
        var random = SeededGenerator(seed: 5)
        let text = Coded.text(3000)
        for (coding, body) in [(ContentCoding.gzip, Coded.gzip(text)), (.deflate, Coded.zlib(text))] {
            for _ in 0..<3000 {
                var changed = Data(body)
                for _ in 0...(random.next() % 3) {
                    changed[Int(random.next() % UInt64(changed.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                let result = Decoding.all(changed, [coding], pieces: [Int(random.next() % 2000)])
                // What is not covered by a checksum is the header: time, system, and which flags.
                if result.failure == nil { #expect(result.output == text) }
            }
            for _ in 0..<2000 {
                let noise = Data((0..<(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
                _ = Decoding.all(noise, [coding])
            }
        }
    }

    @Test func `T-RES-01 a bomb of one layer ends after 16 MiB and a piece`() {
        let result = Decoding.all(Coded.bomb(gibibytes: 1), [.gzip], pieces: [10_000])

        #expect(result.failure == .bomb(ratio: 250))
        #expect(result.output.count <= 16 << 20)
        #expect(result.longestPiece <= ContentDecoder.pieceSize)
    }

    @Test func `T-RES-01 a bomb of two layers in a few hundred bytes ends after 16 MiB and a piece`() {
        let body = Coded.gzip(Coded.gzip(Data(count: 64 << 20), level: 9), level: 9)
        #expect(body.count < 400)

        let result = Decoding.all(body, [.gzip, .gzip])

        #expect(result.failure == .bomb(ratio: 250))
        #expect(result.output.count <= 16 << 20)
    }

    @Test func `T-RES-01 a layer that swallows what the one before has blown up is a bomb too`() {
        // Empty blocks without end: they become nothing.
        let blocks =
            Data(repeating: 0, count: 0) + Data(Array(repeating: [0, 0, 0, 0xFF, 0xFF], count: 8 << 20).joined())

        let result = Decoding.all(Coded.deflate(blocks, .gzip, 9), [.deflate, .gzip])

        #expect(result.failure == .bomb(ratio: 250))
        #expect(result.output.isEmpty)
    }

    @Test func `dense content passes as long as it is short, and up to the ratio if it is long`() {
        let zeros = Data(count: 15 << 20)
        #expect(Decoding.all(Coded.gzip(zeros, level: 9), [.gzip]).output == zeros)

        var long = Decoding([.gzip])
        long.limits.ratio = 1100
        long.run(Coded.gzip(Data(count: 40 << 20), level: 9))
        #expect(long.failure == nil && long.output.count == 40 << 20)
    }

    @Test func `T-RES-06 ten megabytes of blocks without content are taken in linear work`() {
        let blocks = Data(Array(repeating: [0, 0, 0, 0xFF, 0xFF], count: 2 << 20).joined()) + Coded.raw(Self.hello)

        let result = Decoding.all(blocks, [.deflate], pieces: [65_536])

        #expect(result.failure == nil && result.output == Self.hello)
        #expect(result.steps < 1000)
    }

    @Test func `T-RES-07 no piece is empty or longer than a page`() {
        for room in [1, 1000, 65_536] {
            let result = Decoding.all(Coded.gzip(Coded.text(300_000)), [.gzip], pieces: [777], room: room)
            #expect(result.longestPiece <= room && result.output.count == 300_000)
        }
    }

    @Test func `nothing is made before it is asked for`() throws {
        let body = Array(Coded.gzip(Data(count: 10 << 20), level: 9))
        let decoder = try ContentDecoder(codings: [.gzip], limits: .init(ratio: 250))
        let page = ContentPage()
        var made = 0

        try body.withUnsafeBytes { bytes in
            var rest = bytes
            var work = 1 << 20
            for _ in 1...3 {
                guard case .piece(let count) = try decoder.step(&rest, into: page.bytes, work: &work) else { return }
                made += count
            }
            #expect(made == 3 * ContentDecoder.pieceSize)
            #expect(bytes.count - rest.count < 1000)
            work = 0
            #expect(try decoder.step(&rest, into: page.bytes, work: &work) == .tired)
        }
    }
}
