extension RouteSet {
    /// Slow answers, timed by the monotonic clock. Seconds may have a fraction.
    ///
    /// | route | answer |
    /// |---|---|
    /// | `/delay/SECONDS`, every method | JSON of the request, after this time |
    /// | `/drip?numbytes=10&duration=2&delay=0&code=200` | the head after the delay, then its bytes over the duration |
    /// | `/late-body/SECONDS` | the head at once, the body after this time |
    /// | `/held/NAME`, every method | JSON of the request, once the test calls `signal(NAME)` |
    ///
    /// A wait ends early when the client resets the connection or the server stops. Use `/held` in tests that must not
    /// depend on time.
    public static var slowness: RouteSet {
        RouteSet { server in
            server.route("*", "/delay/:seconds") { request in
                guard let delay = seconds(request) else { return .misuse("/delay/SECONDS") }
                return .json(Echo.of(request)).delayed(by: delay)
            }
            server.route("*", "/late-body/:seconds") { request in
                guard let delay = seconds(request) else { return .misuse("/late-body/SECONDS") }
                return .json(Echo.of(request)).delayingBody(by: delay)
            }
            server.route("*", "/held/:signal") { request in
                .json(Echo.of(request)).held(until: request.parameters["signal"] ?? "")
            }
            server.route("GET", "/drip") { drip(for: $0) }
        }
    }

    private static func seconds(_ request: RecordedRequest) -> Duration? {
        request.parameters["seconds"].flatMap(DecimalText.duration)
    }

    private static func drip(for request: RecordedRequest) -> ServerReply {
        let count = request.argument("numbytes").map { DecimalText.count($0) ?? -1 } ?? 10
        let status = request.argument("code").map { DecimalText.count($0) ?? 0 } ?? 200
        let duration = request.argument("duration").map { DecimalText.duration($0) } ?? .seconds(2)
        let delay = request.argument("delay").map { DecimalText.duration($0) } ?? .zero
        guard count >= 0, (200...999).contains(status), let duration, let delay else {
            return .misuse("numbytes and code as numbers, duration and delay in seconds")
        }
        let body = ReplyBody.generated(count: count) { _ in [UInt8(ascii: "*")] }
        return .stream(body).status(status).delayed(by: delay).pacing(every: duration / max(count, 1))
    }
}
