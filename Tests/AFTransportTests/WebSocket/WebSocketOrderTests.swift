import AFLoop
import Foundation
import Glibc

@testable import AFTransport
@testable import AFWire

/// Orders of events that put a WebSocket between two states, on a wire that the test holds in its hands.
@Suite struct WebSocketOrderTests {
    private final class Client: WebSocketClient {
        var wantsMessage = true
        /// Everything that is heard, in order.
        var heard: [String] = []
        var failure: WebSocketFailure?

        func webSocketReceived(_ message: WebSocketMessage) {
            if case .text(let text) = message { heard.append(text) }
        }

        func webSocketReceivedClose(_ close: WebSocketClose) { heard.append("close \(close.code ?? 0)") }

        func webSocketEnded(_ failure: WebSocketFailure?) {
            self.failure = failure
            heard.append("ended\(failure.map { " \($0.name)" } ?? "")")
        }
    }

    private let world = TransferWorld()
    private let channel: ScriptedChannel
    private let client = Client()
    private let connection: WebSocketConnection

    init() throws {
        channel = try ScriptedChannel()
        connection = Self.connect(channel, client, in: world)
    }

    private static func connect(
        _ channel: ScriptedChannel,
        _ client: Client,
        in world: TransferWorld,
        compression: WebSocketCompression? = nil,
        pingInterval: LoopInterval? = nil
    ) -> WebSocketConnection {
        WebSocketConnection(
            channel,
            secured: nil,
            early: [],
            agreement: WebSocketHandshake.Agreement(subprotocol: nil, compression: compression),
            terms: WebSocketTerms(
                messageLimit: 1000,
                pingInterval: pingInterval,
                pongPatience: LoopInterval(.seconds(10)),
                closePatience: LoopInterval(.seconds(5))
            ),
            platform: world.makePlatform(),
            random: { 0 },
            client: client
        )
    }

    /// Runs a job in a turn of the loop.
    private func onLoop(_ job: @escaping () -> Void) {
        nonisolated(unsafe) let job = job
        world.loop.enqueue { job() }
        world.settle()
    }

    private func open() { onLoop { connection.start() } }
    private func close(_ code: UInt16) { onLoop { connection.close(WebSocketClose(code: code)) } }

    /// The server sends this, and the connection hears of it.
    private func receive(_ reads: ScriptedChannel.Read...) {
        channel.reads += reads
        onLoop { channel.becomeReady() }
    }

    private static func text(_ text: String) -> [UInt8] { WebSocketProgram.frame(0x81, Array(text.utf8)) }

    private static func close(_ code: UInt16) -> [UInt8] {
        WebSocketProgram.frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
    }

    /// A reserved bit.
    private static let violation: [UInt8] = [0xF1, 0]

    /// What was sent, frame by frame; a text of more than 10 bytes by its length. No mask changes anything: its key is 0.
    private func sent() -> [String] {
        var (rest, frames) = (channel.takeWritten()[...], [String]())
        while let first = rest.popFirst(), let second = rest.popFirst() {
            var count = Int(second & 0x7F)
            if count >= 126 {
                let bytes = rest.prefix(count == 126 ? 2 : 8)
                rest = rest.dropFirst(bytes.count)
                count = bytes.reduce(0) { $0 << 8 | Int($1) }
            }
            let payload = Array(rest.dropFirst(4).prefix(count))
            rest = rest.dropFirst(4 + count)
            switch first & 0xF {
            case 8: frames.append("close \(payload.count < 2 ? 0 : Int(payload[0]) << 8 | Int(payload[1]))")
            case 9: frames.append("ping")
            case 10: frames.append("pong")
            default: frames.append(count > 10 ? "\(count)" : String(decoding: payload, as: UTF8.self))
            }
        }
        return frames
    }

    private func send(_ text: String) {
        let (client, name) = (client, text.count > 10 ? "\(text.count)" : text)
        onLoop {
            connection.send(.text(text)) { failure in
                client.heard.append("\(name) \(failure.map { "failed: \($0.name)" } ?? "sent")")
            }
        }
    }

    /// More than is encoded ahead.
    private static let long = String(repeating: "x", count: 100_000)

    @Test func `messages before the server's Close count until one is not wanted, and then none does`() {
        open()
        close(1000)
        receive(.bytes(Self.text("first")))
        client.wantsMessage = false
        receive(.bytes(Self.text("second")))
        client.wantsMessage = true
        receive(.bytes(Self.text("third")))
        send("late")
        receive(.bytes(Self.close(1000)), .end)

        #expect(client.heard == ["first", "late failed: closed", "close 1000", "ended"])
        #expect(sent() == ["close 1000"])
        #expect(channel.isClosed)
    }

    @Test func `both sides close at once: each sends one Close frame`() {
        open()
        channel.reads = [.bytes(Self.text("last") + Self.close(1001)), .end]
        send("mine")
        close(1000)
        receive()

        #expect(client.heard == ["mine sent", "last", "close 1001", "ended"])
        #expect(sent() == ["mine", "close 1000"])
    }

    @Test func `the server's Close comes while ours waits behind messages, which are cut`() {
        open()
        channel.room = 0
        send(Self.long)
        send("never")
        close(1000)
        close(1002)
        receive(.bytes(Self.close(1001)))
        #expect(client.heard == ["close 1001", "100000 failed: closed", "never failed: closed"])

        channel.room = .max
        receive(.end)
        #expect(client.heard.dropFirst(3) == ["ended"])
        // The server reads the rest of the frame, and then the Close frame.
        #expect(sent() == ["100000", "close 1000"])
    }

    @Test func `a violation while a Close waits sends no second one, and is what the client hears of`() {
        open()
        channel.room = 0
        send(Self.long)
        send("never")
        close(1000)
        receive(.bytes(Self.text("before") + Self.violation + Self.text("behind")))
        #expect(client.heard == ["before", "100000 failed: violation", "never failed: violation"])
        send("late")

        channel.room = .max
        receive(.bytes(Self.close(1000)), .end)
        #expect(client.heard.dropFirst(3) == ["late failed: closed", "ended violation"])
        #expect(sent() == ["100000", "close 1000"])
    }

    @Test func `a violation is what the client hears of, though the Close frame finds no way`() {
        open()
        channel.writeError = EPIPE
        receive(.bytes(Self.violation), .blocked)
        receive(.blocked)

        #expect(client.heard == ["ended violation"])
        #expect(channel.isClosed)
    }

    @Test func `a server that takes no more bytes may still say why`() {
        open()
        client.wantsMessage = false
        channel.reads = [.bytes(Self.text("early") + Self.close(1008)), .failed(ECONNRESET)]
        channel.writeError = EPIPE
        send("lost")
        #expect(client.heard == [])
        receive()

        #expect(client.heard == ["early", "close 1008", "lost failed: closed", "ended"])
    }

    @Test func `without a word of the server the lost connection is what the client hears of`() {
        open()
        channel.writeError = EPIPE
        send("lost")
        receive(.blocked)

        #expect(client.heard == ["lost failed: channel", "ended channel"])
    }

    @Test(arguments: [false, true])
    func `a connection that is dropped says goodbye, unless its task is suspended`(isSuspended: Bool) {
        open()
        onLoop {
            if isSuspended { connection.suspend() }
            connection.drop()
            connection.drop()
            connection.resume()
        }
        receive(.bytes(Self.text("behind")))
        send("late")

        #expect(sent() == (isSuspended ? [] : ["close 1001"]))
        #expect(client.heard == ["late failed: closed"])
        #expect(channel.isClosed)
    }

    @Test func `pings are answered until our Close frame has left`() {
        open()
        receive(.bytes(WebSocketProgram.frame(0x89, [1])))
        close(1000)
        receive(.bytes(WebSocketProgram.frame(0x89, [2])))

        #expect(sent() == ["pong", "close 1000"])
    }

    @Test func `a server that does not close is given up, in order if its Close frame came`() {
        open()
        close(1000)
        world.advance(by: .seconds(4))
        #expect(client.heard == [])
        world.advance(by: .seconds(2))
        #expect(client.heard == ["ended noClose"])
    }

    @Test func `each part of what stands before our Close frame gives the server its time anew`() {
        open()
        channel.room = 0
        send(Self.long)
        close(1000)
        for room in [1, 100] {
            world.advance(by: .seconds(4))
            channel.room = room
            receive()
            #expect(client.heard == [])
        }
        world.advance(by: .seconds(4))
        #expect(client.heard == [])
        world.advance(by: .seconds(2))
        #expect(client.heard == ["100000 failed: noClose", "ended noClose"])
    }

    @Test func `a message that zlib cannot pack leaves as it is`() {
        // No window of zlib is that large.
        let compression = WebSocketCompression(clientWindowBits: 16)
        let other = Self.connect(channel, client, in: world, compression: compression)
        onLoop { [client] in
            other.start()
            for text in ["first", "second"] {
                other.send(.text(text)) { client.heard.append("\(text) \($0.map { "failed: \($0.name)" } ?? "sent")") }
            }
        }
        #expect(sent() == ["first", "second"])
        #expect(client.heard == ["first sent", "second sent"])
        onLoop { other.drop() }
    }

    @Test func `a suspended connection asks nothing, and from its resumption on it does`() {
        let other = Self.connect(channel, client, in: world, pingInterval: LoopInterval(.seconds(20)))
        onLoop {
            other.suspend()
            other.start()
        }
        world.advance(by: .seconds(1000))
        onLoop { other.resume() }
        world.advance(by: .seconds(19))
        #expect(sent() == [])
        world.advance(by: .seconds(2))
        #expect(sent() == ["ping"])
        world.advance(by: .seconds(8))
        #expect(client.heard == [])
        world.advance(by: .seconds(2))
        #expect(client.heard == ["ended noPong"])
    }

    @Test func `an event that cannot be ends the connection with an error that names both`() {
        open()
        send("mine")
        onLoop { #expect(connection.take(.closeOverdue) == .impossible) }
        send("late")
        receive(.bytes(Self.text("behind")))

        #expect(client.heard == ["mine sent", "ended fault", "late failed: fault"])
        guard case .fault("closeOverdue while open: neither side has closed") = client.failure else {
            Issue.record("\(String(describing: client.failure))")
            return
        }
        #expect(channel.isClosed)
    }
}

extension WebSocketFailure {
    /// Its case, without details.
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
