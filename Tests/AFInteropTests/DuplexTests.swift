import AFNetworkingTesting
import AFTestSupport
import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// A body that goes on while its answer arrives, and the fields behind it.
    struct Duplex {
        private enum Peer: String, CaseIterable {
            case node, nginx, aiohttp
        }

        /// Answers each piece in capitals as it comes, and then with the trailer fields.
        private static let echo = """
            require('http').createServer((question, answer) => {
                question.on('data', piece => answer.write(String(piece).toUpperCase()))
                question.on('end', () => answer.end(JSON.stringify(question.trailers)))
            }).listen(Number(process.argv[2]), '127.0.0.1')
            """

        /// - Parameter body: Takes the session and the URL while the servers run.
        private func with(_ peer: Peer, _ body: (URLSession, URL) async throws -> Void) async throws {
            guard peer != .aiohttp else {
                let url = try Server.aiohttp.url("/echo").absoluteString.replacingOccurrences(of: "ws:", with: "http:")
                return try await body(.fresh(), try #require(URL(string: url)))
            }
            let node = try await ServerProcess.node(Self.echo)
            defer { node.stop() }
            guard peer == .nginx else {
                return try await body(.fresh(), try #require(URL(string: "http://127.0.0.1:\(node.port)/")))
            }
            let authority = try CertificateAuthority()
            let directives = """
                location / {
                  proxy_pass http://127.0.0.1:\(node.port); proxy_http_version 1.1;
                  proxy_request_buffering off; proxy_buffering off;
                }
                """
            let nginx = try await ServerProcess.nginx(try authority.issue(for: "127.0.0.1"), directives)
            defer { nginx.stop() }
            try await body(.fresh { $0.tls.anchors = .certificates([authority.certificate]) }, nginx.url())
        }

        @Test(arguments: Peer.allCases)
        private func `each piece is answered before the next one leaves`(peer: Peer) async throws {
            try await with(peer) { session, url in
                let body = FedStream()
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                request.httpBodyStream = body
                body.feed("one")
                let (bytes, _) = try await session.bytes(for: request)
                var heard = ""
                for try await byte in bytes {
                    heard.append(Character(Unicode.Scalar(byte)))
                    if heard == "ONE" { body.feed("two") }
                    if heard == "ONETWO" { body.end() }
                }

                #expect(heard == (peer == .aiohttp ? "ONETWO" : "ONETWO{}"))
            }
        }

        @Test(arguments: Peer.allCases)
        private func `trailer fields reach a server, or are dropped on the way, and harm nothing`(peer: Peer)
            async throws
        {
            try await with(peer) { session, url in
                for turn in 1...2 {
                    var request = URLRequest(url: url)
                    request.httpMethod = "POST"
                    request.httpBody = Data("body".utf8)
                    request.trailers = RequestTrailers("X-Turn") { ["X-Turn": "\(turn)"] }
                    let (data, _) = try await session.data(for: request)

                    let trailers = [Peer.node: #"{"x-turn":"\#(turn)"}"#, .nginx: "{}", .aiohttp: ""]
                    #expect(String(decoding: data, as: UTF8.self) == "BODY" + (trailers[peer] ?? ""))
                }
            }
        }
    }
}
