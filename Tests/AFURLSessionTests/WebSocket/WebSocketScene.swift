@testable import AFURLSession

/// A WebSocket task and its server in a virtual world, and all that happens to both, in words.
final class WebSocketScene {
    typealias Message = URLSessionWebSocketTask.Message

    /// Hears what a delegate hears.
    private final class Listener: NSObject, URLSessionWebSocketDelegate {
        let log: Log
        init(_ log: Log) { self.log = log }

        func urlSession(
            _ session: URLSession,
            webSocketTask: URLSessionWebSocketTask,
            didOpenWithProtocol protocol: String?
        ) {
            log.add("open\(`protocol`.map { " \($0)" } ?? "")")
        }

        func urlSession(
            _ session: URLSession,
            webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
            reason: Data?
        ) {
            log.add("closed \(closeCode.rawValue)\(reason.map { " \(String(decoding: $0, as: UTF8.self))" } ?? "")")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            log.add(error.map { "failed \(Log.text(of: $0))" } ?? "completed")
        }
    }

    final class Log: Sendable {
        private let lines = Lock<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }

        static func text(of error: any Error) -> String {
            guard let failure = (error as? URLError)?.loadFailure else { return "\(error)" }
            return "\(failure.reason.rawValue)\(failure.detail.map { ".\($0.rawValue)" } ?? "")"
        }

        static func text(of message: Message) -> String {
            switch message {
            case .string(let text): "text \(short(text))"
            case .data(let data): "data \(short(String(decoding: data, as: UTF8.self)))"
            }
        }

        /// A text of more than 40 bytes by its length.
        static func short(_ text: String) -> String { text.utf8.count > 40 ? "of \(text.utf8.count)" : "[\(text)]" }
    }

    let world: VirtualWorld
    let log = Log()
    /// What the server has got.
    let server = Log()
    let task: URLSessionWebSocketTask
    let session: URLSession

    /// - Parameter receives: Whether to receive messages as long as there are some.
    init(
        _ behaviour: WebSocketProgram.Behaviour = WebSocketProgram.Behaviour(),
        url: String = "ws://api.test/chat",
        options: WebSocketOptions = WebSocketOptions(),
        seed: UInt64 = 1,
        receives: Bool = true,
        configure: (URLSessionConfiguration) -> Void = { _ in },
        request change: (inout URLRequest) -> Void = { _ in }
    ) {
        world = VirtualWorld(seed: seed)
        var behaviour = behaviour
        let given = behaviour.received
        behaviour.received = { [server] frame, client in
            server.add(Self.text(of: frame))
            given(frame, client)
        }
        world.serve("api.test") { WebSocketProgram(behaviour) }
        session = world.makeSession(delegate: Listener(log), configure).session
        var request = URLRequest(url: URL(string: url)!)
        change(&request)
        task = session.webSocketTask(with: request, options: options)
        if receives { Self.receive(from: task, log) }
    }

    private static func receive(from task: URLSessionWebSocketTask, _ log: Log) {
        task.receive { result in
            guard case .success(let message) = result else { return }
            log.add(Log.text(of: message))
            receive(from: task, log)
        }
    }

    /// Opens the WebSocket, and lets everything happen that will.
    @discardableResult
    func run() -> [String] {
        task.resume()
        world.run(limit: .seconds(100))
        return log.all
    }

    /// The delegate has heard of the completion.
    var hasEnded: Bool { log.all.contains { $0 == "completed" || $0.hasPrefix("failed") } }

    func send(_ message: Message) {
        task.send(message) { [log] error in if let error { log.add("unsent \(Log.text(of: error))") } }
    }

    private static func text(of frame: WebSocketProgram.Frame) -> String {
        let names: [UInt8: String] = [0: "more", 1: "text", 2: "data", 8: "close", 9: "ping", 10: "pong"]
        let name = names[frame.opcode] ?? "opcode \(frame.opcode)"
        let mark = (frame.isCompressed ? "*" : "") + (frame.isFinal ? "" : "…")
        if frame.opcode == 8 {
            guard frame.payload.count >= 2 else { return "close" }
            let code = Int(frame.payload[0]) << 8 | Int(frame.payload[1])
            let reason = String(decoding: frame.payload.dropFirst(2), as: UTF8.self)
            return "close \(code)\(reason.isEmpty ? "" : " \(reason)")"
        }
        return "\(name)\(mark) \(Log.short(String(decoding: frame.payload, as: UTF8.self)))"
    }
}
