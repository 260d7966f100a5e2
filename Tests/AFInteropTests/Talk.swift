import AFURLSession
import Foundation
import Testing

/// A library of `Tests/Support/Servers/talk.py`.
enum Talker: String, CaseIterable {
    case websockets, aiohttp

    static let serving = allCases.filter { $0.server(true).isServing && $0.server(false).isServing }

    private func server(_ isSecured: Bool) -> Server {
        switch self {
        case .websockets: isSecured ? .securedWebsockets : .websockets
        case .aiohttp: isSecured ? .securedAiohttp : .aiohttp
        }
    }

    func url(_ path: String, isSecured: Bool = false) throws -> URL { try server(isSecured).url(path) }

    /// The one certificate that the servers have.
    static var anchors: TLSConfiguration {
        get throws {
            let file = try #require(ProcessInfo.processInfo.environment["AFNET_INTEROP_CERTIFICATE"])
            var tls = TLSConfiguration()
            tls.anchors = try .file(file)
            return tls
        }
    }
}

/// A WebSocket, and what the server says about it.
struct Talk {
    typealias Message = URLSessionWebSocketTask.Message

    /// What the server saw.
    struct Seen: Decodable {
        struct Request: Decodable {
            let target: String
            let host: String
            let cookie: String?
            let authorization: String?
            let offered: String?

            enum CodingKeys: String, CodingKey {
                case target, host, cookie, authorization
                case offered = "sec-websocket-extensions"
            }
        }

        let requests: [Request]
        /// The kind and the length of each message.
        let messages: [String]
        let pings: [String]
        let pongs: [String]
        /// Of the client's Close frame.
        let code: Int?
        let reason: String?
        let subprotocol: String?
        /// What the server has agreed to.
        let extensions: String?
        /// False if the server is not done with the WebSocket yet.
        let over: Bool
    }

    let task: URLSessionWebSocketTask
    private let keeper: MetricsKeeper
    private let report: URL

    /// - Parameters:
    ///   - path: What the server does, and with which parameters.
    ///   - port: Of a relay in front of the server.
    init(
        _ talker: Talker,
        _ path: String,
        _ options: WebSocketOptions = WebSocketOptions(),
        on session: URLSession = .fresh(),
        isSecured: Bool = false,
        port: Int? = nil,
        as credential: URLCredential? = nil
    ) throws {
        let name = UUID().uuidString
        let url = try talker.url("\(path)\(path.contains("?") ? "&" : "?")id=\(name)", isSecured: isSecured)
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        if let port { parts.port = port }
        keeper = MetricsKeeper(credential)
        task = session.webSocketTask(with: URLRequest(url: try #require(parts.url)), options: options)
        task.delegate = keeper
        task.resume()
        var place = try #require(URLComponents(url: talker.url("/seen?id=\(name)"), resolvingAgainstBaseURL: false))
        place.scheme = "http"
        report = try #require(place.url)
    }

    /// What the server has seen when it is done with the WebSocket.
    func seen() async throws -> Seen {
        let seen = try JSONDecoder().decode(Seen.self, from: await URLSession.fresh().data(from: report).0)
        try #require(seen.over, "the server still waits: \(seen)")
        return seen
    }

    /// The requests of the task. Its delegate may hear of them after the last message.
    func transactions() async throws -> [URLSessionTaskTransactionMetrics] {
        for _ in 0..<1000 where keeper.transactions.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        return keeper.transactions
    }

    func statuses() async throws -> [Int] {
        try await transactions().compactMap { ($0.response as? HTTPURLResponse)?.statusCode }
    }

    /// Sends a message, and returns what comes back.
    func echo(_ message: Message) async throws -> Message {
        try await task.send(message)
        return try await task.receive()
    }

    /// All messages up to the end.
    func all() async throws -> [Message] {
        var all: [Message] = []
        for try await message in task.messages { all.append(message) }
        return all
    }

    /// Closes, and waits for the end of the task.
    func close(_ code: URLSessionWebSocketTask.CloseCode = .normalClosure, _ reason: String? = nil) async throws {
        task.cancel(with: code, reason: reason.map { Data($0.utf8) })
        _ = try await all()
    }

    /// Sends a ping, and returns when the server has answered.
    func ping() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            task.sendPing { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}

extension URLSessionWebSocketTask.Message {
    /// More than the window of any compression.
    private static let block = {
        var state: UInt32 = 1
        return Data(
            (0..<1 << 16).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: state >> 24)
            }
        )
    }()

    /// Letters.
    static func text(of count: Int) -> Self {
        let alphabet = "abcdefghijklmnopqrstuvwxyz"
        let (whole, rest) = count.quotientAndRemainder(dividingBy: alphabet.count)
        return .string(String(repeating: alphabet, count: whole) + alphabet.prefix(rest))
    }

    /// Bytes that compress badly.
    static func bytes(of count: Int) -> Self {
        var data = Data(capacity: count)
        while data.count < count { data += block.prefix(count - data.count) }
        return .data(data)
    }

    /// As the server names it.
    var name: String {
        switch self {
        case .string(let text): "text \(text.utf8.count)"
        case .data(let data): "bytes \(data.count)"
        }
    }
}
