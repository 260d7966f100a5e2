import AFNetworkingTesting
import Foundation
import Glibc
import Testing

@Suite struct ScriptTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    @Test func `expect, then send, then close`() throws {
        server.script(.expect("GET / "), .expectHead, .send("HTTP/1.1 200 OK\r\n\r\nraw"), .close)
        let client = try RawClient(server)

        try client.send(Self.request)

        #expect(try client.readToEnd() == "HTTP/1.1 200 OK\r\n\r\nraw")
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.requests.map(\.rawHead) == [Data(Self.request.utf8)])
        #expect(server.connections[0].completedSteps == 4)
    }

    @Test func `unexpected bytes fail the script and say where`() throws {
        server.script(.expect("GET /"), .expect("right"), .send("never"))
        let client = try RawClient(server)

        try client.send("GET /ri\u{1}ht")

        guard case .scriptFailed(let reason) = try server.waitForEnd(ofConnection: 1) else {
            Issue.record("the script went on")
            return
        }
        #expect(reason == #"step 2: expected "right" but received "ri\x01ht", which differs at byte 2"#)
        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.readToEnd() }
        #expect(server.connections[0].completedSteps == 1)
    }

    @Test func `a client that closes in the middle of expected bytes ends the script`() throws {
        server.script(.expect("GET /"))
        let client = try RawClient(server)

        try client.send("GE")
        client.close()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
        #expect(server.connections[0].received == Data("GE".utf8))
    }

    @Test func `expected bytes beyond the first buffer are compared too`() throws {
        let large = String(repeating: "0123456789", count: 30_000)
        server.script(.expect(large), .send("same"))
        let client = try RawClient(server)

        try client.send(large)

        #expect(try client.readToEnd() == "same")
    }

    @Test func `whole requests are expected and recorded with their bodies`() throws {
        server.script(.expectRequest, .send("1"), .expect("GET"), .expectHead, .send("2"), .expectEnd, .send("3"))
        let client = try RawClient(server)

        try client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + Self.request)
        #expect(try client.read(2) == "12")
        client.shutDownWriting()

        #expect(try client.readToEnd() == "3")
        #expect(server.requests.map(\.target) == ["/a", "/"])
        #expect(server.requests.map(\.bodyText) == ["abc", ""])
    }

    @Test func `a malformed request fails the script`() throws {
        server.script(.expectHead)
        let client = try RawClient(server)

        try client.send("\r\n\r\n\r\nnonsense\r\n\r\n")

        guard case .scriptFailed(let reason) = try server.waitForEnd(ofConnection: 1) else {
            Issue.record("the script went on")
            return
        }
        #expect(reason.hasPrefix("step 1: not a request: "))
    }

    @Test func `bytes in place of the end fail the script`() throws {
        server.script(.expectEnd)
        let client = try RawClient(server)

        try client.send("!")

        #expect(try server.waitForEnd(ofConnection: 1) == .scriptFailed(#"step 1: expected the end but received "!""#))
    }

    @Test func `receive takes any bytes`() throws {
        server.script(.expectHead, .receive(200_000), .expect("!"), .send("got it"))
        let client = try RawClient(server)

        try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200001\r\n\r\n")
        try client.send(bytes: Array(repeating: 7, count: 200_000))
        try client.send("!")

        #expect(try client.readToEnd() == "got it")
    }

    @Test func `a split send makes one write of each piece`() throws {
        // Offsets that are out of order, doubled or out of range do no harm.
        server.script(.sendSplit("abcdef", at: [4, 1, 1, 0, 6, 99, -1], pause: .milliseconds(20)))
        let client = try RawClient(server)
        let start = ContinuousClock.now

        #expect(try client.readToEnd() == "abcdef")

        #expect(ContinuousClock.now - start >= .milliseconds(40))
        #expect(server.connections[0].bytesSent == 6)
    }

    @Test func `a script can wait for a time and for a signal`() throws {
        server.script(.pause(.milliseconds(20)), .send("a"), .pause(until: "go"), .send("b"))
        let start = ContinuousClock.now
        let client = try RawClient(server)
        #expect(try client.read(1) == "a")
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        #expect(client.isSilent)

        server.signal("go")

        #expect(try client.readToEnd() == "b")
    }

    @Test func `a reset arrives as one`() throws {
        server.script(.expectHead, .reset)
        let client = try RawClient(server)

        try client.send(Self.request)

        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.readToEnd() }
        #expect(try server.waitForEnd(ofConnection: 1) == .serverReset)
        #expect(server.connections[0].completedSteps == 2)
    }

    @Test func `after shutdownWrite the script still receives`() throws {
        server.script(.send("bye"), .shutdownWrite, .expect("still here"), .expectEnd)
        let client = try RawClient(server)
        #expect(try client.readToEnd() == "bye")

        try client.send("still here")
        client.close()

        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.connections[0].completedSteps == 4)
    }

    @Test func `a stall lasts until the client goes away`() throws {
        server.script(on: .every, .expectHead, .stall, .send("never"))
        let closing = try RawClient(server)
        let resetting = try RawClient(server)
        try closing.send(Self.request)
        try resetting.send(Self.request)
        try server.waitForRequests(2)
        #expect(closing.isSilent && resetting.isSilent)

        closing.close()
        resetting.reset()

        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
        #expect(try server.waitForEnd(ofConnection: 2) == .clientReset)
        #expect(server.connections.map(\.bytesSent) == [0, 0])
    }

    @Test func `a connection that is never accepted is established and silent`() throws {
        server.script(on: .connection(2), .neverAccept)
        server.route("GET", "/") { _ in .text("x") }
        let first = try RawClient(server)
        try first.send(Self.request)
        _ = try first.readHead()

        let second = try RawClient(server)
        try second.send(Self.request)
        try first.send(Self.request)
        #expect(try first.read(1) == "x")
        _ = try first.readHead()

        #expect(second.isSilent)
        #expect(server.acceptedConnections == 1)
    }

    @Test func `a full queue leaves connection attempts unanswered`() throws {
        var options = TestServer.Options()
        options.backlog = 0
        let server = try TestServer(options: options)
        server.script(.neverAccept)
        var queued = [try RawClient(server)]

        let failure = #expect(throws: RawClient.Failure.self) {
            for _ in 0..<4 { queued.append(try RawClient(server, timeout: 100)) }
        }

        #expect(failure == RawClient.Failure(call: "connect", code: EINPROGRESS))
        #expect(queued.allSatisfy { $0.isSilent })
    }

    @Test func `scripts are played on their connections`() throws {
        server.script(on: .connection(3), .send("three"))
        server.script(on: .every, .send("every"))
        server.script(.send("next one"))
        server.script(on: .next, steps: ["next", " two"].map { .send($0) })

        let replies = try (0..<5).map { _ in try RawClient(server).readToEnd() }

        #expect(replies == ["next one", "next two", "three", "every", "every"])
    }

    @Test func `a script can go on as HTTP`() throws {
        server.route("GET", "/") { _ in .text("served") }
        server.script(.expect("PREFACE"), .send("ok"), .serve)
        let client = try RawClient(server)

        try client.send("PREFACE")
        #expect(try client.read(2) == "ok")
        try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        #expect(try client.readToEnd().hasSuffix("\r\n\r\nserved"))
    }
}
