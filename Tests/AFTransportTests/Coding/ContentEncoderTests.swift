import AFTestSupport
import AFWire
import Foundation

@testable import AFTransport

@Suite struct ContentEncoderTests {
    static let codings: [ContentCoding] = {
        var codings = [ContentCoding.gzip, .deflate]
        #if Brotli
            codings.append(.brotli)
        #endif
        #if Zstd
            codings.append(.zstd)
        #endif
        return codings
    }()

    /// Made anew: the leak sanitizer does not see what a `Data` refers to for ever.
    private static var contents: [Data] {
        [
            Data(), Data([0]), Data("hello".utf8), Data(count: 3_000_000), Coded.text(700_000),
            Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }),
        ]
    }

    @Test(arguments: codings)
    func `what it makes decodes to the content, in whatever pieces that comes`(coding: ContentCoding) throws {
        for content in Self.contents {
            for size in [1 << 30, 65_536, 1000] {
                let encoder = try ContentEncoder(coding)
                var (coded, rest) = (Data(), content)
                repeat {
                    let piece = rest.prefix(size)
                    rest = Data(rest.dropFirst(size))
                    coded.append(contentsOf: try encoder.encode(piece, before: rest.isEmpty ? .end : .more))
                } while !rest.isEmpty
                let result = Decoding.all(coded, [coding])
                let isBomb = result.failure.map { if case .bomb = $0 { true } else { false } } ?? false
                #expect(isBomb || result.failure == nil && result.output == content, "\(content.count) by \(size)")
            }
        }
    }

    @Test(arguments: codings)
    func `before a pause it keeps nothing back`(coding: ContentCoding) throws {
        let encoder = try ContentEncoder(coding)
        var (coded, content) = (Data(), Data())
        for piece in ["one", "", "two", String(repeating: "three ", count: 30_000)] {
            content += Data(piece.utf8)
            coded.append(contentsOf: try encoder.encode(Data(piece.utf8), before: .pause))
            let result = Decoding.all(coded, [coding])
            #expect(result.output == content && (content.isEmpty || result.failure == .truncated(coding)))
        }
        coded.append(contentsOf: try encoder.encode(Data(), before: .end))
        #expect(Decoding.all(coded, [coding]).failure == nil)
    }

    @Test func `gzip is gzip, and deflate has the format of zlib`() throws {
        let text = Coded.text(1000)
        #expect(Coded.plain(Data(try ContentEncoder(.gzip).encode(text, before: .end))) == text)
        let deflated = try ContentEncoder(.deflate).encode(text, before: .end)
        #expect(Coded.plain(Data(deflated)) == text && deflated[0] & 0x0F == 8)
    }
}
