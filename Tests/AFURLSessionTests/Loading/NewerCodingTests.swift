@testable import AFURLSession
@testable import AFURLTypes

#if Brotli || Zstd
    /// The codings that come with the traits `Brotli` and `Zstd`, on the wire.
    struct NewerCodingTests {
        private static let text = Data(String(repeating: "hello, brotli and zstd, ", count: 100).utf8)

        private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

        private func load(_ coding: String, _ body: Data) async throws -> Outcome {
            let server = try TestServer()
            server.route("GET", "/file", .data(body).header("Content-Encoding", coding))
            let outcome = try await URLSession.loopback().outcome(of: server.url("/file"))
            let asked = server.requests.first?.headers["Accept-Encoding"] ?? ""
            #expect(asked.split(separator: ",").contains { $0.contains(coding) })
            return outcome
        }

        #if Brotli
            private static let brotli = bytes("G18J+MVtbF353VN4gigoVzXIg3XCRTq9QABA7KgS3sSfaAA=")

            @Test func `br is asked for and decoded`() async throws {
                #expect(try await load("br", Self.brotli).data == Self.text)
            }
        #endif

        #if Zstd
            private static let zstd = bytes("KLUv/QRoBQEAwGhlbGxvLCBicm90bGkgYW5kIHpzdGQsIAEAFGX9OQaS/n4N")

            @Test func `zstd is asked for and decoded`() async throws {
                #expect(try await load("zstd", Self.zstd).data == Self.text)
            }
        #endif
    }
#endif
