import AFNetworkingTesting
import AFTestFixtures
import AFURLSession
import Foundation
import Testing

/// A whole response, what must come of it, and whether its connection may be used again.
struct FramingCase: Sendable, CustomTestStringConvertible {
    enum Result: Sendable, Hashable {
        case body(String)
        case fails(LoadFailure.Reason, LoadFailure.Detail?)
    }

    let name: String
    let response: String
    let result: Result
    let isReused: Bool
    /// The peer closes after the response.
    var closes = false

    var testDescription: String { name }

    private static func ok(_ rest: String) -> String { "HTTP/1.1 200 OK\r\n" + rest }

    private static func fails(_ name: String, _ detail: LoadFailure.Detail, _ response: String) -> FramingCase {
        FramingCase(name: name, response: response, result: .fails(.malformed, detail), isReused: false)
    }

    private static func reads(
        _ name: String,
        _ body: String,
        reused: Bool,
        closes: Bool = false,
        _ response: String
    ) -> FramingCase {
        FramingCase(name: name, response: response, result: .body(body), isReused: reused, closes: closes)
    }

    static let all: [FramingCase] = [
        reads("length", "hello", reused: true, ok("Content-Length: 5\r\n\r\nhello")),
        reads(
            "surplus after the length",
            "hello",
            reused: false,
            ok("Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        ),
        fails("two lengths", .framing, ok("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        reads("one length twice", "hello", reused: false, ok("Content-Length: 5, 5\r\n\r\nhello")),
        fails("length with a sign", .framing, ok("Content-Length: +5\r\n\r\nhello")),
        fails("length past 64 bits", .framing, ok("Content-Length: 18446744073709551621\r\n\r\nhello")),
        // RFC 9112 §6.3: Transfer-Encoding wins, and the connection is not used again.
        reads(
            "length and chunked",
            "",
            reused: false,
            ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        ),
        fails(
            "chunked, identity",
            .framing,
            ok("Transfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        ),
        reads("chunked", "hello", reused: true, ok("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")),
        fails("chunk line with bare LF", .chunk, ok("Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n")),
        fails("chunk size with a sign", .chunk, ok("Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n")),
        fails("chunk size past 64 bits", .chunk, ok("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n")),
        fails("chunk without its end", .chunk, ok("Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n")),
        FramingCase(
            name: "chunked, then the end of the stream",
            response: ok("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
            result: .fails(.lost, .truncated),
            isReused: false,
            closes: true
        ),
        fails("space before the colon", .header, ok("Content-Length : 5\r\n\r\nhello")),
        reads("folded field", "hello", reused: false, ok("X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello")),
        fails("folded length", .header, ok("Content-Length: 5\r\n 5\r\n\r\nhello")),
        fails("NUL in a field", .header, ok("X: a\0b\r\nContent-Length: 5\r\n\r\nhello")),
        reads("head with bare LF", "hello", reused: false, "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
        reads("204 with a body", "", reused: false, "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"),
        reads(
            "103 first",
            "",
            reused: true,
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        ),
        reads("999", "no", reused: true, "HTTP/1.1 999 Request denied\r\nContent-Length: 2\r\n\r\nno"),
        fails("099", .status, "HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nno"),
        fails("101 unasked", .status, "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        fails("no HTTP", .status, "<html>hello"),
        reads("until the end", "hello", reused: false, closes: true, ok("\r\nhello")),
        reads("1.0 closes", "hi", reused: false, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        reads(
            "1.0 keeps alive when it says so",
            "hi",
            reused: true,
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
        ),
        reads("close", "hi", reused: false, ok("Connection: close\r\nContent-Length: 2\r\n\r\nhi")),
        reads(
            "close among others",
            "hi",
            reused: false,
            ok("Connection: x, Close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi")
        ),
        reads(
            "chunked and close",
            "hi",
            reused: false,
            ok("Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        ),
        reads(
            "trailers",
            "hi",
            reused: true,
            ok("Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nContent-Length: 9\r\nX: y\r\n\r\n")
        ),
    ]
}

extension LoopbackTests {
    /// What becomes of whole responses, and of the connections they came on.
    struct Framing {
        @Test(arguments: FramingCase.all)
        func `T-MSG-01 T-MSG-48 a response is read or refused, and its connection used again or not`(
            framing: FramingCase
        ) async throws {
            // In one write, and cut at each of the first offsets and the last ones.
            let count = framing.response.utf8.count
            for cuts in [[], [1, 9, 17], [count / 2], [count - 1], [count - 2, count - 1]] {
                try await check(framing, cuts: cuts)
            }
        }

        @Test(arguments: FramingCase.all)
        func `a response that comes byte by byte means the same`(framing: FramingCase) async throws {
            try await check(framing, cuts: Array(1..<framing.response.utf8.count))
        }

        private func check(_ framing: FramingCase, cuts: [Int]) async throws {
            let server = try TestServer()
            server.route("GET", "/second", .text("second"))
            let send = ScriptStep.sendSplit(framing.response, at: cuts)
            let tail: [ScriptStep] = framing.closes ? [.close] : [.serve]
            server.script(on: .connection(1), steps: [.expectRequest, send] + tail)
            let session = URLSession.loopback()

            let first = try await session.outcome(of: server.url("/first"))
            let second = try await session.outcome(of: server.url("/second"))

            switch framing.result {
            case .body(let text):
                #expect(first.text == text, "\(first) after \(cuts)")
            case .fails(let reason, let detail):
                #expect(first.reason == reason && first.error?.loadFailure?.detail == detail, "\(first) after \(cuts)")
                #expect(first.code == (reason == .lost ? -1005 : -1017))
            }
            #expect(second.text == "second")
            #expect(server.requests.last?.connection == (framing.isReused ? 1 : 2), "after \(cuts)")
        }

        @Test func `T-MSG-53 nothing of one message is left for the next`() async throws {
            let server = try TestServer()
            let everything =
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                + "Set-Cookie: a=b\r\nX-Old: yes\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n"
            server.script(
                .expectRequest,
                .send(everything),
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain")
            )
            let session = URLSession.loopback()

            let first = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: server.url())

            #expect(first.text == "hello" && second.text == "plain")
            #expect(second.response?.value(forHTTPHeaderField: "X-Old") == nil)
            #expect(second.response?.expectedContentLength == 5)
            #expect(server.acceptedConnections == 1)
        }

        @Test(arguments: [true, false], ["HTTP/1.0", "HTTP/1.1"])
        func `T-MSG-48 a request that says close ends its connection`(closes: Bool, version: String) async throws {
            for saysKeepAlive in [true, false] {
                let server = try TestServer()
                server.route("GET", "/second", .text("second"))
                let connection = saysKeepAlive ? "Connection: keep-alive\r\n" : ""
                server.script(
                    on: .connection(1),
                    .expectRequest,
                    .send("\(version) 200 OK\r\n\(connection)Content-Length: 2\r\n\r\nhi"),
                    .serve
                )
                let session = URLSession.loopback()
                let fields = closes ? ["Connection": "close"] : [:]

                let first = try await session.outcome(of: URLRequest("GET", server.url(), fields: fields))
                let second = try await session.outcome(of: server.url("/second"))

                #expect(first.text == "hi" && second.text == "second")
                let isReused = !closes && (version == "HTTP/1.1" || saysKeepAlive)
                #expect(server.acceptedConnections == (isReused ? 1 : 2))
            }
        }
    }
}
