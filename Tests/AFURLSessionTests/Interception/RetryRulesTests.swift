@testable import AFURLSession
@testable import AFURLTypes

extension RetryDecision {
    /// Nil unless something is sent again.
    var wait: Duration? { if case .retry(let wait) = self { wait } else { nil } }

    var givesUp: Bool { if case .giveUp = self { true } else { false } }
}

extension FailedAttempt {
    static func of(
        _ method: String = "GET",
        status: Int? = nil,
        error: URLError.Code? = nil,
        fields: [String: String] = [:],
        retryAfter: String? = nil,
        number: Int = 1,
        hasSentBytes: Bool = true,
        date: Date = Date(timeIntervalSince1970: 784_111_770),
        jitter: Double = 1
    ) -> FailedAttempt {
        let url = URL(string: "http://api.test/")!
        let answered = retryAfter.map { ["Retry-After": $0] }
        return FailedAttempt(
            URLRequest(method, url, fields: fields),
            response: status.flatMap {
                HTTPURLResponse(url: url, statusCode: $0, httpVersion: nil, headerFields: answered)
            },
            error: error.map { URLError($0) },
            number: number,
            hasSentBytes: hasSentBytes,
            date: date,
            jitter: jitter
        )
    }
}

@Suite("Retry rules")
struct RetryRulesTests {
    private let rules = RetryRules()

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `T-RTY-01 a status that may heal is tried again only for what may be sent twice`(status: Int) {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            #expect(rules.decision(after: .of(method, status: status)).wait != nil, "\(method)")
        }
        for method in ["POST", "PATCH", "options", "PURGE"] {
            #expect(rules.decision(after: .of(method, status: status)).givesUp, "\(method)")
        }
        let key = ["idempotency-key": "1"]
        #expect(rules.decision(after: .of("POST", status: status, fields: key)).wait != nil)
        #expect(rules.decision(after: .of("POST", status: status, fields: ["Idempotency-Key": ""])).givesUp)
    }

    @Test(arguments: [400, 401, 403, 404, 407, 409, 410, 413, 425, 501, 505, 511, 599, 600, 999])
    func `T-RTY-06 other statuses are answers`(status: Int) {
        #expect(rules.decision(after: .of(status: status)).givesUp)
    }

    @Test func `T-RTY-06 a failure that does not pass is not tried again`() {
        let final: [URLError.Code] = [
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot, .clientCertificateRejected, .clientCertificateRequired,
            .secureConnectionFailed, .cancelled, .badURL, .unsupportedURL, .cannotFindHost, .userAuthenticationRequired,
            .requestBodyStreamExhausted, .cannotParseResponse, .httpTooManyRedirects, .dataLengthExceedsMaximum,
            .cannotDecodeRawData, .cannotWriteToFile, .resourceUnavailable,
        ]
        for code in final { #expect(rules.decision(after: .of(error: code)).givesUp, "\(code)") }
        var foreign = FailedAttempt.of()
        foreign.error = CocoaError(.fileNoSuchFile)
        #expect(rules.decision(after: foreign).givesUp)
        #expect(rules.decision(after: .of()).givesUp)
    }

    @Test func `T-RTY-01 an error of the network is tried again if nothing left, or it does not matter`() {
        let codes: [URLError.Code] = [
            .timedOut, .networkConnectionLost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
        ]
        for code in codes {
            #expect(rules.decision(after: .of(error: code)).wait != nil)
            #expect(rules.decision(after: .of("POST", error: code)).givesUp)
            #expect(rules.decision(after: .of("POST", error: code, hasSentBytes: false)).wait != nil)
            #expect(rules.decision(after: .of("POST", error: code, fields: ["Idempotency-Key": "k"])).wait != nil)
        }
        // In the middle of a response that was fine.
        #expect(rules.decision(after: .of(status: 200, error: .networkConnectionLost)).wait != nil)
    }

    @Test func `T-RTY-02 there are as many attempts as allowed`() {
        for allowed in [-1, 0, 1] {
            #expect(RetryRules(maximumAttempts: allowed).decision(after: .of(status: 503)).givesUp)
        }
        let rules = RetryRules(maximumAttempts: 4)
        let waits = (1...5).map { rules.decision(after: .of(status: 503, number: $0)).wait != nil }
        #expect(waits == [true, true, true, false, false])
    }

    @Test func `T-RTY-03 the wait doubles up to its limit, and a random part of it is taken`() {
        var rules = RetryRules(maximumAttempts: .max)
        rules.baseDelay = .milliseconds(100)
        rules.maximumDelay = .seconds(1)
        func waits(_ jitter: Double) -> [Duration?] {
            [1, 2, 3, 4, 5, 80, .max - 1].map {
                rules.decision(after: .of(status: 503, number: $0, jitter: jitter)).wait
            }
        }
        #expect(waits(1) == [100, 200, 400, 800, 1000, 1000, 1000].map { .milliseconds($0) })
        #expect(waits(0.5) == [50, 100, 200, 400, 500, 500, 500].map { .milliseconds($0) })
        #expect(waits(0).allSatisfy { $0 == .zero })
        #expect(waits(.nan) == waits(1) && waits(7) == waits(1) && waits(-1) == waits(0))
    }

    @Test func `T-RTY-03 absurd delays neither trap nor wait for ever`() {
        var rules = RetryRules(maximumAttempts: .max)
        rules.baseDelay = .seconds(Int64.max)
        rules.maximumDelay = .seconds(Int64.max)
        #expect(rules.decision(after: .of(status: 503, number: 60)).wait == .seconds(1_000_000_000))
        rules.maximumDelay = .seconds(-5)
        #expect(rules.decision(after: .of(status: 503)).wait == .zero)
    }

    @Test func `T-RTY-04 a server is left alone as long as it asks, or for good`() {
        func wait(_ text: String) -> Duration? {
            rules.decision(after: .of(status: 503, retryAfter: text, jitter: 0)).wait
        }
        #expect(wait("7") == .seconds(7))
        #expect(wait("60") == .seconds(60))
        #expect(wait("61") == nil)
        #expect(wait("99999999999999999999999999") == nil)
        // 30 seconds after the attempt.
        #expect(wait("Sun, 06 Nov 1994 08:50:00 GMT") == .seconds(30))
        #expect(wait("Sun, 06 Nov 1994 08:49:00 GMT") == .zero)
        #expect(wait("Fri, 06 Nov 2099 08:49:00 GMT") == nil)
        for text in ["", "-5", "+5", "1.5", "soon", "0x10", "5 s", "٥"] { #expect(wait(text) == .zero, "\(text)") }
        // Never less than our own.
        #expect(rules.decision(after: .of(status: 429, retryAfter: "0", number: 2)).wait == .seconds(1))
    }

    @Test(arguments: [1e19, -1e19, .infinity, -.infinity, .nan] as [Double])
    func `T-RTY-04 a moment may be any`(seconds: Double) throws {
        let attempt = FailedAttempt.of(
            status: 503,
            retryAfter: "Sun, 06 Nov 1994 08:50:00 GMT",
            date: Date(timeIntervalSince1970: seconds)
        )
        #expect(try #require(attempt.retryAfter) >= .zero)
    }

    @Test func `T-RTY-04 the wait that is read lies between zero and a hundred years`() {
        let now: Int64 = 784_111_770
        #expect(RetryAfter.delay(" 5\t", now: now) == .seconds(5))
        #expect(RetryAfter.delay("0", now: now) == .zero)
        #expect(RetryAfter.delay("9223372036854775807", now: now) == .seconds(RetryAfter.longest))
        #expect(RetryAfter.delay("9223372036854775808", now: now) == .seconds(RetryAfter.longest))
        #expect(RetryAfter.delay("Sunday, 06-Nov-94 08:49:37 GMT", now: now) == .seconds(7))
        #expect(RetryAfter.delay("Sun Nov  6 08:49:37 1994", now: .min) == .seconds(RetryAfter.longest))
        #expect(RetryAfter.delay("Sun Nov  6 08:49:37 1994", now: .max) == .zero)
        #expect(RetryAfter.delay("tomorrow", now: now) == nil)
    }

    @Test func `the methods and statuses that are tried again can be set`() async {
        var rules = RetryRules()
        rules.statusCodes = [418]
        rules.methods = ["POST"]
        rules.errorCodes = [.cannotFindHost]
        rules.maximumRetryAfter = .seconds(5)
        #expect(await rules.retry(after: .of("POST", status: 418)).wait != nil)
        #expect(await rules.retry(after: .of("GET", status: 418)).givesUp)
        #expect(await rules.retry(after: .of("POST", error: .cannotFindHost)).wait != nil)
        #expect(await rules.retry(after: .of("POST", error: .timedOut)).givesUp)
        #expect(await rules.retry(after: .of("POST", status: 418, retryAfter: "6")).givesUp)
    }
}
