import AFBase
import AFLoop
import Foundation

/// Writes a line for each event of a session.
///
/// ```swift
/// configuration.eventMonitors = [LoggingMonitor { print($0) }]
/// ```
///
/// ```
/// 2026-11-21T21:05:00.123Z task 1 created GET https://example.com/
/// 2026-11-21T21:05:00.124Z connection 1 lookup example.com
/// 2026-11-21T21:05:00.301Z task 1.1 on connection 1 response 200
/// ```
///
/// `1.2` is the second exchange of task 1. A line has no control characters, whatever a server sent.
public final class LoggingMonitor: SessionEventMonitor {
    private let output: @Sendable (String) -> Void
    private let includesBytes: Bool

    /// - Parameters:
    ///   - includesBytes: Whether to write lines for body bytes that were sent or received. False.
    ///   - output: Takes each line, without a line break, on a queue of the session's.
    public init(includesBytes: Bool = false, _ output: @escaping @Sendable (String) -> Void) {
        self.includesBytes = includesBytes
        self.output = output
    }

    /// - Parameters:
    ///   - stream: Takes the lines, each with its line break.
    ///   - includesBytes: Whether to write lines for body bytes that were sent or received. False.
    public convenience init(to stream: some TextOutputStream & Sendable, includesBytes: Bool = false) {
        let stream = Lock(stream)
        self.init(includesBytes: includesBytes) { line in stream.withLock { $0.write(line + "\n") } }
    }

    /// Writes a line.
    public func observe(_ event: SessionEvent) {
        switch event.kind {
        case .bytesSent, .bytesReceived: if !includesBytes { return }
        default: break
        }
        output(event.description)
    }
}

extension SessionEvent: CustomStringConvertible {
    /// One line: the time, the task or connection, and the event.
    public var description: String {
        [date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), subject, kind.description]
            .filter { !$0.isEmpty }.joined(separator: " ")
    }

    private var subject: String {
        let connection = connection.map { "connection \($0)" }
        guard let task else { return connection ?? "" }
        let name = "task \(task)" + (exchange.map { ".\($0)" } ?? "")
        return connection.map { "\(name) on \($0)" } ?? name
    }
}

extension SessionEvent.Kind: CustomStringConvertible {
    /// The event, in a few words.
    public var description: String { EventText.oneLine(words) }

    private var words: String {
        switch self {
        case .created(let method, let url): "created \(method) \(url)"
        case .resumed: "resumed"
        case .suspended: "suspended"
        case .cancelled: "cancelled"
        case .becameDownload(let task), .becameStream(let task): "became task \(task)"
        case .completed(let outcome): outcome.description
        case .fetchStarted(let method, let url): "fetch \(method) \(url)"
        case .connectionAcquired(let isReused): isReused ? "uses it again" : "uses it"
        case .requestSent(let head, let body): "request sent, \(head) bytes of head, \(body) of body"
        case .bytesSent(let total): "sent \(total) bytes of the body"
        case .response(let status, let head): "response \(status), \(head) bytes of head"
        case .bytesReceived(let total): "received \(total) bytes of the body"
        case .retried: "is sent again"
        case .retryScheduled(let attempt, let seconds):
            "will be sent again in \(Duration.seconds(seconds).inWords), attempt \(attempt)"
        case .redirected(let status, let url): "redirected by \(status) to \(url)"
        case .challenged(let challenge): challenge.description
        case .challengeUnanswerable(let message): "sends no credentials: \(message)"
        default: otherWords
        }
    }

    private var otherWords: String {
        switch self {
        case .webSocketOpened(let name): name.map { "WebSocket open, subprotocol \($0)" } ?? "WebSocket open"
        case .messageSent(let bytes, let isText): "message sent, \(bytes) bytes of \(isText ? "text" : "data")"
        case .messageReceived(let bytes, let isText): "message received, \(bytes) bytes of \(isText ? "text" : "data")"
        case .webSocketClosed(let code, let reason):
            "closed by the server with \(code)\(reason.isEmpty ? "" : " \(reason)")"
        case .cacheHit: "cache hit"
        case .cacheMiss: "cache miss"
        case .cacheValidation: "cache has it, the server is asked"
        case .cacheStore: "goes to the cache"
        case .lookupStarted(let host): "lookup \(host)"
        case .lookupEnded(let count): "lookup found \(count)"
        case .connectStarted(let addresses): "connect to \(addresses.joined(separator: " or "))"
        case .connectEnded(let address): "connected to \(address)"
        case .proxyStarted(let proxy): "proxy \(proxy) asked"
        case .proxyEnded: "proxy leads on"
        case .tlsStarted(let host): "tls to \(host)"
        case .tlsEnded(let version, let suite, let isResumed):
            "tls \(version), suite 0x\(String(suite, radix: 16)), \(isResumed ? "resumed" : "full handshake")"
        case .authorityFlawTolerated(let message): "tolerates that \(message)"
        case .connectionFailed(let message): "failed: \(message)"
        case .connectionClosed: "closed"
        case .missed(let count): "\(count) events are missing here"
        default: ""
        }
    }
}

extension SessionEvent.Challenge: CustomStringConvertible {
    /// The server or proxy that asks, and what it asks for.
    public var description: String {
        let realm = realm.map { " for \"\($0)\"" } ?? ""
        let failures = previousFailureCount > 0 ? ", after \(previousFailureCount) refused" : ""
        return "challenged by \(isProxy ? "proxy " : "")\(host):\(port) \(method)\(realm)\(failures)"
    }
}

extension SessionEvent.Outcome: CustomStringConvertible {
    /// How it ended, in a few words.
    public var description: String {
        let took = " in \(Int((seconds * 1000).rounded())) ms"
        let redirected = redirects > 0 ? ", \(redirects) redirects" : ""
        guard let errorCode else {
            let status = status.map { " \($0)" } ?? ""
            return "completed\(status)\(took), \(bytesReceived) bytes received, \(bytesSent) sent\(redirected)"
        }
        return "failed with \(errorCode.rawValue)\(took)\(redirected): \(message ?? "")"
    }
}
