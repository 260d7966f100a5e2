import AFWire

@testable import AFTransport

/// A whole response, what must come of it, and whether its connection may be used again.
struct FramingCase: Sendable, CustomTestStringConvertible {
    enum Result: Sendable {
        case body(String)
        case fails(HTTP1Error.Kind)
    }

    let name: String
    let response: String
    let result: Result
    let isReused: Bool
    /// The peer closes after the response.
    var closes = false

    var testDescription: String { name }

    private static func ok(_ rest: String) -> String { "HTTP/1.1 200 OK\r\n" + rest }

    private static func fails(_ name: String, _ kind: HTTP1Error.Kind, _ response: String) -> FramingCase {
        FramingCase(name: name, response: response, result: .fails(kind), isReused: false)
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
            result: .fails(.closed(.inBody)),
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

/// What becomes of whole responses, and of the connections they came on.
@Suite struct FramingTests {
    @Test(arguments: FramingCase.all)
    func `T-MSG-01 T-MSG-48 a response is read or refused, and its connection used again or not`(framing: FramingCase) {
        // In one piece, cut at some of the first offsets and at the last ones, and byte by byte.
        let count = framing.response.utf8.count
        for cuts in [[], [1, 9, 17], [count / 2], [count - 1], [count - 2, count - 1], Array(1..<count)] {
            check(framing, cuts: cuts)
        }
    }

    private func check(_ framing: FramingCase, cuts: [Int]) {
        let world = TransferWorld()
        let bytes = Array(framing.response.utf8)
        let cuts = cuts.filter { $0 < bytes.count }
        let pieces = zip([0] + cuts, cuts + [bytes.count]).map { String(decoding: bytes[$0..<$1], as: UTF8.self) }
        let send = pieces.flatMap { [ServerStep.reply($0), .delay(.milliseconds(1))] }
        let second: [ServerStep] = [.expectRequest, .reply(VirtualSystem.echo("/2"))]
        world.scripts("api.test", [[.expectRequest] + send + (framing.closes ? [.close] : second), second])

        let first = world.load("http://api.test/1")
        // What is behind the end of a message is there before the next request.
        world.advance(by: .seconds(1))
        let next = world.load("http://api.test/2")

        switch framing.result {
        case .body(let text): #expect(first.body == text && first.error == nil, "\(first.all) after \(cuts)")
        case .fails(let kind):
            #expect(first.wireError == kind, "\(first.all) after \(cuts)")
        }
        #expect(next.body == "/2")
        #expect(world.network.connections.count == (framing.isReused ? 1 : 2), "after \(cuts)")
        #expect(world.finish() == [])
    }

    @Test func `T-MSG-53 nothing of one message is left for the next`() {
        let world = TransferWorld()
        let everything =
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
            + "Set-Cookie: a=b\r\nX-Old: yes\r\n\r\n5;ext=1\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n"
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain"
        world.script("api.test", .expectRequest, .reply(everything), .expectRequest, .reply(plain))

        let (first, second) = (world.load("http://api.test/1"), world.load("http://api.test/2"))

        #expect(first.body == "hello" && second.body == "plain")
        #expect(second.head?.headers.contains("X-Old") == false && second.transfer.precedingHeads.isEmpty)
        #expect(world.network.connections.count == 1 && world.finish() == [])
    }

    @Test(arguments: [true, false], ["HTTP/1.0", "HTTP/1.1"])
    func `T-MSG-48 a request that says close ends its connection`(closes: Bool, version: String) {
        for saysKeepAlive in [true, false] {
            let world = TransferWorld()
            let connection = saysKeepAlive ? "Connection: keep-alive\r\n" : ""
            let answer = "\(version) 200 OK\r\n\(connection)Content-Length: 2\r\n\r\nhi"
            world.script("api.test", .expectRequest, .reply(answer), .again)

            #expect(world.load("http://api.test/", fields: closes ? ["Connection": "close"] : [:]).body == "hi")
            #expect(world.load("http://api.test/").body == "hi")
            let isReused = !closes && (version == "HTTP/1.1" || saysKeepAlive)
            #expect(world.network.connections.count == (isReused ? 1 : 2))
            #expect(world.finish() == [])
        }
    }
}
