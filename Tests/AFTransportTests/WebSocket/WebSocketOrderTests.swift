import AFLoop
import AFTestFixtures
import AFVirtualWorld
import Foundation
import Glibc
import Testing

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

    private let world = VirtualWorld()
    private let channel: ScriptedChannel
    private let client = Client()
    private let connection: WebSocketConnection

    init() throws {
        channel = try ScriptedChannel()
        connection = WebSocketConnection(
            channel,
            secured: nil,
            early: [],
            WebSocketHandshake.Agreement(subprotocol: nil, compression: nil),
            WebSocketTerms(),
            platform: world.makeWorld().platform,
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

    @Test func `a violation is what the client hears of, though the Close frame finds no way`() {
        open()
        channel.writeError = EPIPE
        receive(.bytes(Self.violation), .blocked)
        receive(.blocked)

        #expect(client.heard == ["ended violation"])
        #expect(channel.isClosed)
    }
}

extension WebSocketFailure {
    /// Its case, without details.
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
