import Foundation
import Glibc
import Testing

/// `afnet ws`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct WebSocketTests {
    let server: TestServer
    private let input = Pipe()

    init() throws {
        server = try TestServer()
        server.install(.webSockets)
    }

    private func url(_ path: String) -> String { "ws://127.0.0.1:\(server.port)\(path)" }

    @Test func `lines are messages, both ways, up to the end of the input`() async throws {
        let run = try await Program.run("ws", "-v", url("/ws/echo"), input: "one\ntwo\n\nthree without end")

        #expect(run.code == 0 && run.text == "one\ntwo\n\nthree without end\n", "\(run.errors)")
        #expect(run.errors.contains("* open") && run.errors.contains("* closed with 1000"))
        let frames = try #require(server.connections.first?.frames)
        #expect(frames.last?.closeCode == 1000 && frames.count == 5)
    }

    @Test func `bytes go as they are`() async throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let run = try await Program.run(["ws", "--binary", "--no-deflate", url("/ws/echo")], input: bytes)

        #expect(run.code == 0 && run.output == bytes, "\(run.errors)")
        #expect(server.requests.first?.headers["Sec-WebSocket-Extensions"] == nil)
    }

    @Test func `what the server sends is printed until it closes`() async throws {
        let running = try Program.begin(["ws", url("/ws/count/3?interval=0.05")], input: input)
        #expect(try await running.firstLine() == "1")
        #expect(try await running.code() == 0 && running.text == "1\n2\n3\n")
        withExtendedLifetime(input) {}
    }

    @Test func `the request has its fields, and the subprotocols`() async throws {
        let run = try await Program.run(
            "ws",
            "-v",
            "--subprotocol",
            "a",
            "--subprotocol",
            "b",
            "-H",
            "X-A: b",
            "--bearer",
            "t",
            url("/ws/echo?protocol=b"),
            input: ""
        )

        #expect(run.code == 0 && run.errors.contains("* open, subprotocol b"), "\(run.errors)")
        let fields = try #require(server.requests.first?.headers)
        #expect(fields["Sec-WebSocket-Protocol"] == "a, b" && fields["X-A"] == "b")
        #expect(fields["Authorization"] == "Bearer t")
    }

    @Test func `what opens no WebSocket, or ends badly, has an exit code and a reason`() async throws {
        let missing = try await Program.run("ws", url("/missing"), input: "")
        #expect(missing.code == 22 && missing.errors.contains("404"))
        let closed = try await Program.run("ws", url("/ws/close/1011?reason=broken"), input: "x\n")
        #expect(closed.code == 56 && closed.errors.contains(#"1011: "broken""#), "\(closed.code): \(closed.errors)")
        let cut = try await Program.run("ws", url("/ws/bad/close-without-close"))
        #expect(cut.code == 18 && cut.errors.contains("1006"))
        let silent = try Program.begin(["ws", "--ping", "0.05", url("/ws/bad/silent")], input: input)
        #expect(try await silent.code() == 28 && silent.errors.contains("ping"))
        withExtendedLifetime(input) {}
        let text = try await Program.run(["ws", url("/ws/echo")], input: Data([0xFF, 0x0A]))
        #expect(text.code == 26 && text.errors.contains("--binary"))
        #expect(try await Program.run("ws").code == 2)
    }

    @Test func `a complaint that answers the Close frame of afnet is a failure`() async throws {
        server.route(
            "GET",
            "/ws/complains",
            ServerReply.webSocket { socket in
                while try socket.receiveFrame().map({ $0.closeCode == nil }) == true {}
                try socket.send(.close(1011, reason: "bro\u{1B}ken"))
            }
        )
        let run = try await Program.run("ws", "-v", url("/ws/complains"), input: "x\n")

        #expect(run.code == 56 && run.errors.contains("* closed with 1011"), "\(run.code): \(run.errors)")
        #expect(run.errors.contains(#"closed with code 1011: "bro\u{1B}ken"."#), "\(run.errors)")
    }

    @Test func `redirects are followed when asked for`() async throws {
        server.route("GET", "/moved", ServerReply.status(302).header("Location", "/ws/echo"))
        #expect(try await Program.run("ws", url("/moved"), input: "x\n").code == 22)
        let run = try await Program.run("ws", "-L", url("/moved"), input: "x\n")
        #expect(run.code == 0 && run.text == "x\n", "\(run.errors)")
    }

    @Test func `an interrupt closes the WebSocket`() async throws {
        let running = try Program.begin(["ws", url("/ws/echo")], input: input)
        try input.fileHandleForWriting.write(contentsOf: Data("hello\n".utf8))
        #expect(try await running.firstLine() == "hello")
        _ = try await running.interrupt()
        withExtendedLifetime(input) {}
        let connection = try #require(server.connections.first)
        #expect(connection.frames.contains { $0.closeCode == 1001 })
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `the jar is written when the command is interrupted`(signal: Int32) async throws {
        let (jar, input) = (try Program.Folder(), Pipe())
        server.route(
            "GET",
            "/ws",
            ServerReply.webSocket { socket in
                try socket.send(text: "hello")
                _ = try socket.receive()
            }.header("Set-Cookie", "a=b")
        )
        let running = try Program.begin(["ws", "-c", jar.path("jar"), url("/ws")], input: input)
        #expect(try await running.firstLine() == "hello")

        #expect(try await running.interrupt(by: signal) == 0)

        withExtendedLifetime(input) {}
        #expect(String(decoding: jar.contents("jar") ?? Data(), as: UTF8.self).contains("\ta\tb"))
    }

    @Test func `--max-time ends an open WebSocket with the code of a timeout`() async throws {
        let running = try Program.begin(["ws", "-m", "0.5", url("/ws/echo")], input: input)
        #expect(try await running.code() == 28)
        withExtendedLifetime(input) {}
        #expect(server.requests.count == 1 && running.errors.contains("used up its time"), "\(running.errors)")
    }
}
