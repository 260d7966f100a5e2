import AFLoop
import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFTransport
@testable import AFURLSession

/// What a task reports for each way in which a transfer can fail.
@Suite struct TransferErrorTests {
    struct Row: CustomTestStringConvertible {
        let error: TransferError
        let reason: LoadFailure.Reason
        var detail: LoadFailure.Detail?
        let phase: LoadFailure.Phase
        let code: URLError.Code

        var testDescription: String { "\(error)" }
    }

    private static let reset = SystemCallError(.recv, code: ECONNRESET)
    private static let refused: DialReport = {
        var report = DialReport()
        report.attempts = [
            DialAttempt(
                address: SocketAddress(ipv4: "127.0.0.1", port: 80)!,
                outcome: .failed(SystemCallError(.connect, code: ECONNREFUSED))
            )
        ]
        return report
    }()

    private static let rows: [Row] = [
        Row(
            error: .body(.noStream),
            reason: .body,
            detail: .exhausted,
            phase: .preparing,
            code: .requestBodyStreamExhausted
        ),
        Row(
            error: .body(.coding(.gzip)),
            reason: .body,
            detail: .memory,
            phase: .sending,
            code: .requestBodyStreamExhausted
        ),
        Row(error: .impossibleSocketPath, reason: .request, phase: .preparing, code: .badURL),
        Row(
            error: .dial(.unresolved(ResolutionFailure(kind: .notFound, message: "no such host")), DialReport()),
            reason: .resources,
            detail: .nameNotFound,
            phase: .resolving,
            code: .cannotFindHost
        ),
        Row(
            error: .dial(.unresolved(ResolutionFailure(kind: .unavailable, message: "no answer")), DialReport()),
            reason: .resources,
            detail: .nameLookup,
            phase: .resolving,
            code: .dnsLookupFailed
        ),
        Row(error: .dial(.unreachable, refused), reason: .resources, phase: .connecting, code: .cannotConnectToHost),
        Row(
            error: .dial(.unanswered(.seconds(3)), DialReport()),
            reason: .timeout,
            detail: .attempt,
            phase: .connecting,
            code: .timedOut
        ),
        Row(
            error: .dial(.forbidden, DialReport()),
            reason: .resources,
            detail: .address,
            phase: .connecting,
            code: .cannotConnectToHost
        ),
        Row(
            error: .handshake(HandshakeFailure(cause: .broken(reset))),
            reason: .lost,
            phase: .tls,
            code: .networkConnectionLost
        ),
        Row(
            error: .handshake(HandshakeFailure(cause: .identityCancelled)),
            reason: .cancelled,
            phase: .tls,
            code: .cancelled
        ),
        Row(
            error: .handshake(HandshakeFailure(cause: .tls(TLSFailure(.version, detail: "no version in common")))),
            reason: .tls,
            detail: .version,
            phase: .tls,
            code: .secureConnectionFailed
        ),
        Row(
            error: .secured(TLSFailure(.flood, detail: "too many"), .receivingBody, .notAsked),
            reason: .tls,
            phase: .receivingBody,
            code: .secureConnectionFailed
        ),
        Row(
            error: .cutShort,
            reason: .lost,
            detail: .truncated,
            phase: .receivingBody,
            code: .networkConnectionLost
        ),
        Row(
            error: .wire(HTTP1Error(.status, detail: "no status line")),
            reason: .malformed,
            detail: .status,
            phase: .waitingForHead,
            code: .cannotParseResponse
        ),
        Row(
            error: .channel(reset, .sending),
            reason: .lost,
            phase: .sending,
            code: .networkConnectionLost
        ),
        Row(error: .timedOut(.waitingForHead, .seconds(9)), reason: .timeout, phase: .waitingForHead, code: .timedOut),
        Row(error: .outOfTime(.receivingBody), reason: .timeout, phase: .receivingBody, code: .timedOut),
        Row(
            error: .unserved(QueueReport(holders: [1, 2], connections: 2, limit: 2, isQueueTime: true), .seconds(1)),
            reason: .timeout,
            phase: .queued,
            code: .timedOut
        ),
        Row(error: .overdue(.tls, .securing, .seconds(1)), reason: .timeout, phase: .tls, code: .timedOut),
    ]

    @Test(arguments: rows) func `a failed transfer has its reason, phase and code`(row: Row) throws {
        let endpoint = try RequestURL("http://a.test/").endpoint

        let error = LoadError.transfer(row.error).urlError(for: URL(string: "http://a.test/"), peer: endpoint)

        let failure = try #require(error.loadFailure)
        #expect(failure.reason == row.reason)
        #expect(failure.phase == row.phase)
        #expect(error.code == row.code)
        if let detail = row.detail { #expect(failure.detail == detail) }
        #expect(!failure.message.isEmpty)
    }

    @Test func `a failure of the proxy names the proxy and not the server`() throws {
        let endpoint = try RequestURL("https://a.test/").endpoint
        let route = ProxyRoute(server: try ProxyServer("http://proxy.test:3128"), number: 1)

        let refused = TransferError.proxy(ProxyFailure(route: route, cause: .dial(.unreachable, Self.refused)))
        let dropped = TransferError.proxy(ProxyFailure(route: route, cause: .dropped))
        let first = try #require(LoadError.transfer(refused).urlError(for: nil, peer: endpoint).loadFailure)
        let second = try #require(LoadError.transfer(dropped).urlError(for: nil, peer: endpoint).loadFailure)

        #expect(first.reason == .proxy && first.phase == .proxy)
        #expect(second.reason == .lost && second.phase == .tls)
        #expect([first, second].allSatisfy { $0.message.contains("proxy.test:3128") })
    }

    @Test func `a cancelled task is described as Apple does it, an invalidated session by what to do`() {
        let cancelled = LoadError.cancelled.urlError(for: nil)
        let invalidated = LoadError.sessionInvalidated.urlError(for: nil)

        #expect(cancelled.code == .cancelled && cancelled.localizedDescription == "cancelled")
        #expect((cancelled as NSError).localizedDescription == "cancelled")
        #expect(cancelled.loadFailure?.message == "The load was cancelled.")
        #expect(invalidated.code == .cancelled && invalidated.loadFailure?.detail == .invalidated)
        #expect(invalidated.localizedDescription.contains("Make the task in a new session"))
    }
}
