import AFTestSupport
import AFWire
import Foundation

@testable import AFTransport

#if Brotli || Zstd
    /// The codings that come with the traits `Brotli` and `Zstd`.
    struct NewerCodingTests {
        private static let text = Data(String(repeating: "hello, brotli and zstd, ", count: 100).utf8)

        private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

        private func check(_ coding: ContentCoding, _ body: Data, allowsMembers: Bool) {
            for cut in 0...body.count {
                let result = Decoding.all(body, [coding], pieces: [cut, 10_000])
                #expect(result.failure == nil && result.output == Self.text, "cut at \(cut)")
                guard cut > 0, cut < body.count else { continue }
                #expect(Decoding.all(body.prefix(cut), [coding]).failure == .truncated(coding), "\(cut) bytes")
            }
            #expect(Decoding.all(body, [coding], pieces: [1], room: 1).output == Self.text)
            #expect(Decoding.all(body + Data(count: 5), [coding]).output == Self.text)
            #expect(Decoding.all(body + Data("garbage".utf8), [coding]).failure != nil)
            #expect((Decoding.all(body + body, [coding]).failure == nil) == allowsMembers)
            #expect(Decoding.all(Coded.gzip(body), [coding, .gzip]).output == Self.text)
            var random = SeededGenerator(seed: 9)
            for _ in 0..<2000 {
                var changed = body
                changed[Int(random.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: random.next())
                _ = Decoding.all(changed, [coding])
            }
        }

        #if Brotli
            private static let brotli = bytes("G18J+MVtbF353VN4gigoVzXIg3XCRTq9QABA7KgS3sSfaAA=")

            @Test func `T-RES-04 br is decoded or refused, in whatever pieces it comes`() {
                check(.brotli, Self.brotli, allowsMembers: false)
            }

            @Test func `T-RES-01 64 MiB of zeros in 106 bytes end after 16 MiB`() {
                let bomb = Self.bytes(
                    "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8"
                        + "//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQvf/L//8//BMAcVgAoHv/Bw=="
                )
                let result = Decoding.all(bomb, [.brotli])
                #expect(result.failure == .bomb(ratio: 250) && result.output.count <= 16 << 20)
            }
        #endif

        #if Zstd
            private static let zstd = bytes("KLUv/QRoBQEAwGhlbGxvLCBicm90bGkgYW5kIHpzdGQsIAEAFGX9OQaS/n4N")

            @Test func `T-RES-04 zstd is decoded or refused, in whatever pieces it comes`() {
                check(.zstd, Self.zstd, allowsMembers: true)
            }

            @Test func `T-RES-01 zstd that wants a window of more than 8 MiB is refused`() {
                let wide = Self.bytes("KLUv/QSIBQEAwGhlbGxvLCBicm90bGkgYW5kIHpzdGQsIAEAFGX9OQaS/n4N")
                #expect(Decoding.all(wide, [.zstd]).failure != nil)
            }
        #endif
    }
#endif
