import AFLoop
import AFTestFixtures
import AFTransport
import AFWire
import Foundation
import Testing

@testable import AFURLSession

struct ErrorMappingTests {
    private static let hostile = "\u{1B}[2J\r\nfake: line\u{0}\u{202E}" + String(repeating: "A", count: 100_000)

    private static func failure(_ error: TransferError, _ peer: Endpoint) throws -> LoadFailure {
        try #require(LoadError.transfer(error).urlError(for: nil, peer: peer).loadFailure)
    }

    private static func unreachable(_ peer: Endpoint, _ errors: KeyValuePairs<String, Int32>) throws -> LoadFailure {
        var report = DialReport()
        report.attempts = errors.compactMap { place, code in
            SocketAddress(ipv4: place, port: 80).map {
                DialAttempt(address: $0, outcome: .failed(SystemCallError(.connect, code: code)))
            }
        }
        return try failure(.dial(.unreachable, report), peer)
    }

    @Test func `an error carries Apple's keys and the whole cause`() throws {
        let url = try #require(URL(string: "http://me:CANARY@a.test/x?y"))
        let peer = try RequestURL(url.absoluteString).endpoint
        let failure = try Self.unreachable(peer, ["192.0.2.1": ECONNREFUSED])

        let error: any Error = ErrorMapping.error(failure, url: url)

        let bridged = error as NSError
        #expect(bridged.domain == NSURLErrorDomain)
        #expect(bridged.code == -1004)
        #expect((error as? URLError)?.loadFailure == failure)
        #expect(bridged.userInfo[NSUnderlyingErrorKey] as? LoadFailure == failure)
        #expect((error as? URLError)?.failingURL?.absoluteString == "http://a.test/x?y")
        #expect(bridged.userInfo["NSErrorFailingURLStringKey"] as? String == "http://a.test/x?y")
        #expect(error.localizedDescription == failure.message)
        #expect(failure.message.hasPrefix("Connecting to a.test:80 failed: Connection refused"))
        #expect(!"\(error)".contains("CANARY"))
        #expect(!"\(bridged)".contains("CANARY"))
    }

    @Test func `a printed error says each thing once`() throws {
        let url = try #require(URL(string: "http://a.test/x?y"))
        let peer = try RequestURL(url.absoluteString).endpoint
        let failure = try Self.unreachable(peer, ["192.0.2.2": EHOSTUNREACH, "192.0.2.1": ECONNREFUSED])
        let error = ErrorMapping.error(failure, url: url)
        let advice = try #require(failure.advice)
        var details = error.userInfo
        details["Mine"] = 7
        let withMore = URLError(reporting: .timedOut, details: details)

        for text in ["\(error)", String(describing: error), String(reflecting: error), "\(error as any Error)"] {
            #expect(text.hasPrefix("Error Domain=NSURLErrorDomain Code=-1004 \"\(failure.message)\""))
            for part in [failure.message, advice, url.absoluteString, "Connection refused", "192.0.2.1", "192.0.2.2"] {
                #expect(text.components(separatedBy: part).count == 2, "\(part): \(text)")
            }
        }
        #expect("\(withMore)".contains("UserInfo={Mine=7, NSErrorFailingURLKey=\(url)}"))
        #expect(
            error.localizedDescription == failure.message && (error as NSError).userInfo.count == error.userInfo.count
        )
        #expect(
            "\(URLError(reporting: .timedOut, details: [NSLocalizedDescriptionKey: "late"]))"
                == "Error Domain=NSURLErrorDomain Code=-1001 \"late\""
        )
    }

    @Test(arguments: [
        ("file:///x", -1002), ("http://h%00/", -1000), ("http://h/" + String(repeating: "a", count: 70_000), -1103),
        ("http:///", -1000), ("", -1002), ("a.test", -1002), ("/x", -1002), ("://a.test/", -1002),
    ])
    func `T-REQ-26 T-REQ-27 a refused URL has its code`(text: String, code: Int) {
        let error = #expect(throws: RequestRejection.self) { try RequestURL(text) }

        #expect(error.map { LoadError.rejected($0).urlError(for: nil).errorCode } == code)
    }

    @Test func `a body with GET is too much data, as Apple says`() {
        let failure = LoadFailure(RequestRejection(.body, rule: .bodyNotAllowed))

        #expect(failure.kind.code == .dataLengthExceedsMaximum)
        #expect(failure.phase == .preparing)
        #expect(failure.message.contains("Use another method"))
    }

    @Test(
        arguments: [
            (.status, .malformed, .status), (.header, .malformed, .header), (.framing, .malformed, .framing),
            (.chunk, .malformed, .chunk), (.limit(.headBytes), .limit, nil), (.closed(.beforeHead), .lost, .head),
            (.closed(.inHead), .lost, .head), (.closed(.inBody), .lost, .truncated),
        ] as [(HTTP1Error.Kind, LoadFailure.Reason, LoadFailure.Detail?)]
    )
    func `an error of the parser keeps its kind`(
        kind: HTTP1Error.Kind,
        reason: LoadFailure.Reason,
        detail: LoadFailure.Detail?
    ) throws {
        let peer = try RequestURL("http://a.test/").endpoint

        let failure = try Self.failure(.wire(HTTP1Error(kind, detail: "why")), peer)

        #expect(failure.reason == reason)
        #expect(failure.detail == detail)
        #expect(failure.message.contains(" from a.test:80 failed: "))
        #expect(failure.message.hasSuffix(": why."))
    }

    @Test func `T-MSG-57 text from a peer is printable and short in every message`() throws {
        let peer = try RequestURL("http://a.test/").endpoint
        let shown = Array(Self.hostile.utf8)
        let failures = [
            try Self.failure(
                .wire(shown.withUnsafeBytes { HTTP1Error(.status, reason: "status line", peer: $0) }),
                peer
            ),
            LoadFailure(RequestRejection(.host, rule: .forbiddenByte, at: 1, excerpt: EscapedText(Self.hostile))),
            LoadFailure(RequestRejection(.fieldValue, rule: .control, at: 1, field: EscapedText(Self.hostile))),
            try Self.failure(
                .dial(.unresolved(ResolutionFailure(kind: .notFound, message: Self.hostile)), DialReport()),
                peer
            ),
            LoadFailure(
                .redirect(
                    .unusable(RequestRejection(.host, rule: .forbiddenByte, at: 1, excerpt: EscapedText(Self.hostile)))
                ),
                peer: peer
            ),
        ]

        for failure in failures {
            let error = ErrorMapping.error(failure, url: nil)
            let said = error.userInfo.values.compactMap { $0 as? String }
            for text in said + [failure.message, failure.description, error.localizedDescription] {
                #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
                #expect(text.utf8.count < 600)
            }
        }
    }

    @Test func `a description lists the addresses that were tried`() throws {
        let peer = try RequestURL("http://a.test/").endpoint
        var failure = try Self.failure(.timedOut(.connecting, .milliseconds(1500)), peer)
        failure.attempts = [
            .init(address: "[2001:db8::1]:80", outcome: .timedOut),
            .init(address: "192.0.2.1:80", outcome: .failed, errno: 113),
        ]

        let lines = failure.description.split(separator: "\n")
        #expect(lines.first?.contains("nothing happened for 1.5 seconds") == true)
        #expect(
            lines.dropFirst() == [
                "  [2001:db8::1]:80: timed out", "  192.0.2.1:80: failed (No route to host, errno 113)",
            ]
        )
    }

    @Test func `errors from elsewhere have no failure`() {
        #expect(URLError(.timedOut).loadFailure == nil)
        let circle = URLError(.timedOut, userInfo: [NSUnderlyingErrorKey: NSError(domain: "mine", code: 1)])
        #expect(circle.loadFailure == nil)
    }

    @Test func `the failure is found beneath other errors`() throws {
        let failure = LoadFailure.cancelled(phase: .preparing)
        let inner = NSError(
            domain: "mine",
            code: 1,
            userInfo: [NSUnderlyingErrorKey: ErrorMapping.error(failure, url: nil)]
        )

        #expect(URLError(.timedOut, userInfo: [NSUnderlyingErrorKey: inner]).loadFailure == failure)
        #expect(LoadFailure.beneath(failure) == failure)
    }

    @Test func `what happened and what to change are told apart, for people and for code`() throws {
        let peer = try RequestURL("http://a.test/").endpoint
        let failure = try Self.failure(.timedOut(.connecting, .milliseconds(500)), peer)

        let happened = "Connecting to a.test:80 failed: nothing happened for 0.5 seconds."
        let advice = "Raise timeoutInterval if the server needs longer."
        #expect(failure.failureReason == happened && failure.advice == advice)
        #expect(failure.message == "\(happened) \(advice)" && failure.localizedDescription == failure.message)
        for error in [failure as NSError, ErrorMapping.error(failure, url: nil) as NSError] {
            #expect(error.localizedDescription == failure.message)
            #expect(error.localizedFailureReason == happened && error.localizedRecoverySuggestion == advice)
        }
        let bare = LoadFailure.cancelled(phase: .delivering)
        #expect(bare.advice == nil && bare.message == bare.failureReason)
        #expect(ErrorMapping.error(bare, url: nil).userInfo[NSLocalizedRecoverySuggestionErrorKey] == nil)
    }

    @Test(
        arguments: [
            (.nanoseconds(500_604_346), "0.5 seconds"), (.milliseconds(1), "0.001 seconds"), (.zero, "0 seconds"),
            (.microseconds(12_345), "0.012 seconds"), (.milliseconds(123), "0.12 seconds"), (.seconds(1), "1 second"),
            (.milliseconds(996), "1 second"), (.milliseconds(1500), "1.5 seconds"), (.seconds(60), "60 seconds"),
            (.nanoseconds(9_960_000_000), "10 seconds"), (.nanoseconds(60_004_000_000), "60 seconds"),
            (.seconds(604_800), "604800 seconds"),
        ] as [(Duration, String)]
    )
    func `a time is told with the digits that help`(time: Duration, text: String) {
        #expect(time.inWords == text)
    }
}
