import AFTLS
package import AFTestSupport
import Foundation

/// Plays a proxy, and the server behind it, on one connection: one stage after the other, TLS within TLS if it must be.
package final class LayeredServer: ServerProgram {
    package enum Stage {
        /// From here on all goes through TLS, within whatever TLS there is.
        case tls(MemoryServer.Context)
        /// Waits for the head of a request, and answers it.
        case head(_ answer: String)
        /// Waits for so many bytes, and answers them.
        case bytes(Int, _ answer: [UInt8])
        /// Sends at once.
        case send([UInt8])
        case close
        /// Answers every request with its own target.
        case echo
        /// Answers every request with this.
        case answer(String)
    }

    /// What was received on all connections of a server.
    package final class Log {
        /// Heads of requests, in order, those for tunnels included.
        package var heads: [String] = []
        /// What came for stages that wait for bytes.
        package var pieces: [[UInt8]] = []
        /// The first message of each handshake.
        package var greetings: [[UInt8]] = []
        /// Everything that was ever received in the clear at some level.
        package var plain: [UInt8] = []

        package var plainText: String { String(decoding: plain, as: UTF8.self) }

        package init() {}
    }

    private let log: Log
    private var stages: ArraySlice<Stage>
    /// The outermost first.
    private var layers: [MemoryServer] = []
    private var input: [UInt8] = []

    package init(_ stages: [Stage], _ log: Log) {
        self.stages = stages[...]
        self.log = log
    }

    package func connected(_ client: ServerEnd) {
        run(client)
    }

    package func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        take(Array(bytes), from: 0, client)
        run(client)
    }

    /// Carries bytes that came in at a layer up through those above it.
    private func take(_ bytes: [UInt8], from level: Int, _ client: ServerEnd) {
        var data = bytes
        for index in level..<layers.count {
            let layer = layers[index]
            layer.feed(data)
            if !layer.isReady { layer.handshake() }
            data = layer.isReady ? layer.receive() : []
            send(layer.take(), below: index, client)
        }
        input += data
        log.plain += data
    }

    private func send(_ bytes: [UInt8], below level: Int, _ client: ServerEnd) {
        guard !bytes.isEmpty else { return }
        var data = bytes
        for layer in layers[..<level].reversed() {
            layer.send(data)
            data = layer.take()
        }
        client.send(data)
    }

    private func send(_ bytes: [UInt8], _ client: ServerEnd) {
        send(bytes, below: layers.count, client)
    }

    private func run(_ client: ServerEnd) {
        while let stage = stages.first, perform(stage, client) { stages = stages.dropFirst() }
    }

    /// False if it waits for something.
    private func perform(_ stage: Stage, _ client: ServerEnd) -> Bool {
        if let layer = layers.last, !layer.isReady { return false }
        switch stage {
        case .tls(let context): return startTLS(context, client)
        case .head(let answer):
            guard let head = takeHead() else { return false }
            log.heads.append(head)
            send(Array(answer.utf8), client)
        case .bytes(let count, let answer):
            guard input.count >= count else { return false }
            log.pieces.append(Array(input.prefix(count)))
            input.removeFirst(count)
            send(answer, client)
        case .send(let bytes): send(bytes, client)
        case .close: client.close()
        case .echo, .answer:
            while let head = takeHead() { answer(head, stage, client) }
            return false
        }
        return true
    }

    private func answer(_ head: String, _ stage: Stage, _ client: ServerEnd) {
        log.heads.append(head)
        let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        if case .answer(let text) = stage {
            send(Array(text.utf8), client)
        } else {
            send(Array(VirtualSystem.echo(target).utf8), client)
        }
    }

    private func startTLS(_ context: MemoryServer.Context, _ client: ServerEnd) -> Bool {
        // The greeting comes in one piece on a link without conditions.
        guard !input.isEmpty else { return false }
        guard let layer = try? MemoryServer(context) else { return false }
        let greeting = input
        input = []
        log.greetings.append(greeting)
        layers.append(layer)
        take(greeting, from: layers.count - 1, client)
        return true
    }

    private func takeHead() -> String? {
        guard let end = Data(input).range(of: Data("\r\n\r\n".utf8)) else { return nil }
        defer { input.removeFirst(end.upperBound) }
        return String(decoding: input[..<end.upperBound], as: UTF8.self)
    }
}

extension VirtualSystem {
    /// Plays one script after the other, the last one on all further connections.
    package func serve(_ host: String, scripts: [[LayeredServer.Stage]], port: UInt16, log: LayeredServer.Log) {
        var next = 0
        serve(host, port: port) {
            defer { next += 1 }
            return LayeredServer(scripts[min(next, scripts.count - 1)], log)
        }
    }
}

/// A system with a proxy at `proxy.test`, which plays one script per connection, and the last one on all further ones. A
/// connection past the proxy is `log`ged as well, by the name of `direct`.
package protocol LayeredBench: AnyObject {
    var system: VirtualSystem { get }
    var log: LayeredServer.Log { get }
    var direct: LayeredServer.Log { get }
}

extension LayeredBench {
    package typealias Stage = LayeredServer.Stage

    package static var granted: String { "HTTP/1.1 200 OK\r\n\r\n" }

    package func proxy(_ stages: Stage..., host: String = "proxy.test", port: UInt16 = 3128) {
        proxy(scripts: [stages], host: host, port: port)
    }

    package func proxy(
        scripts: [[Stage]],
        host: String = "proxy.test",
        port: UInt16 = 3128,
        log: LayeredServer.Log? = nil
    ) {
        system.serve(host, scripts: scripts, port: port, log: log ?? self.log)
    }

    /// A server that is there to be reached without a proxy.
    package func serveDirectly(_ host: String, port: UInt16 = 80) {
        system.serve(host, scripts: [[.echo]], port: port, log: direct)
    }

    /// Where connections led, in order.
    package var hosts: [String] { system.network.connections.map(\.host) }
}

/// What a client greets with (RFC 8446 §4.1.2), as far as it is looked at here.
package struct Greeting {
    /// The numbers of its extensions.
    package let extensions: [Int]
    /// Where the server's name is.
    package let bytes: [UInt8]

    /// From a record that holds all of it.
    package init?(_ record: [UInt8]) {
        var rest = record.dropFirst(5 + 4 + 2 + 32)
        func number(_ size: Int) -> Int? {
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let sessionID = number(1) else { return nil }
        rest = rest.dropFirst(sessionID)
        guard let suites = number(2) else { return nil }
        rest = rest.dropFirst(suites)
        guard let compression = number(1) else { return nil }
        rest = rest.dropFirst(compression)
        guard number(2) != nil else { return nil }
        var found: [Int] = []
        while let kind = number(2), let count = number(2) {
            found.append(kind)
            rest = rest.dropFirst(count)
        }
        extensions = found
        bytes = record
    }

    /// A session of before is offered: `pre_shared_key`.
    package var offersSession: Bool { extensions.contains(41) }

    package func names(_ host: String) -> Bool { Data(bytes).range(of: Data(host.utf8)) != nil }
}
