extension RouteSet {
    /// Bodies of any size.
    ///
    /// | route | answer |
    /// |---|---|
    /// | `/bytes/N?seed=` | N pseudorandom bytes, which depend on the seed only |
    /// | `/stream-bytes/N?seed=&chunk_size=` | the same in chunks, by default of 10240 bytes |
    /// | `/stream/N` | N lines of JSON, one in each chunk, with their numbers as `id` |
    ///
    /// Bodies of any size take no memory. `interval=` is the pause before each chunk, in seconds.
    public static var bytes: RouteSet {
        RouteSet { server in
            server.route("GET", "/bytes/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/bytes/NUMBER") }
                return .stream(.seeded(request.count("seed") ?? 0, count: count, pieces: 64 * 1024))
            }
            server.route("GET", "/stream-bytes/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/stream-bytes/NUMBER") }
                let size = min(max(request.count("chunk_size") ?? 10_240, 1), 1 << 20)
                let body = ReplyBody.seeded(request.count("seed") ?? 0, count: count, pieces: size)
                return .stream(body).chunked(size).paced(by: request)
            }
            server.route("GET", "/stream/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/stream/NUMBER") }
                return .stream(lines(count, about: request), type: "application/x-ndjson").chunked().paced(by: request)
            }
        }
    }

    private static func lines(_ count: Int, about request: RecordedRequest) -> ReplyBody {
        let url = JSONDocument.string(request.absoluteTarget)
        let written = Lock(0)
        return .generated { _ in
            let number = written.change { written in
                defer { written += 1 }
                return written
            }
            guard number < count else { return [] }
            return Array((JSONDocument.object([("id", .number(number)), ("url", url)]).text + "\n").utf8)
        }
    }

    /// Ranges of a longer body.
    ///
    /// `/range/N` is N letters of the alphabet, with `ETag`, `Last-Modified` and `Accept-Ranges`. The server answers
    /// one range with 206, several with 206 and `multipart/byteranges`, ranges beyond the end with 416. It sends the
    /// whole body if `If-Range` names another version. Bodies of any size take no memory.
    ///
    /// | query | effect |
    /// |---|---|
    /// | `etag=TAG` | another tag, as if the content had changed; empty for none |
    /// | `ignore=1` | always the whole body, as from a server without ranges |
    /// | `shift=K` | every 206 begins K bytes later than the client asked, and says so |
    /// | `duration=SECONDS` | sends the body piece by piece over this time |
    public static var ranges: RouteSet {
        RouteSet { server in
            server.route("GET", "/range/:count") { request in
                guard let count = request.countInPath("count") else { return .misuse("/range/NUMBER") }
                let reply = alphabet(count, for: request)
                guard let duration = request.duration("duration"), let body = reply.body else { return reply }
                return reply.slowed(body, over: duration)
            }
        }
    }

    private static func alphabet(_ count: Int, for request: RecordedRequest) -> ServerReply {
        if request.argument("ignore") == "1" { return .stream(letters(0..<count)) }
        let tag = request.argument("etag") ?? "range\(count)"
        let asked = request.shifted(by: request.count("shift") ?? 0, in: count)
        return .file(
            count: count,
            entityTag: tag.isEmpty ? nil : DigestRules.quoted(tag),
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            to: asked,
            content: letters
        )
    }

    private static func letters(_ range: Range<Int>) -> ReplyBody {
        .generated(count: range.count) { offset in
            let start = range.lowerBound + offset
            let end = min(start + 64 * 1024, range.upperBound)
            return (start..<end).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        }
    }

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

extension ServerReply {
    func paced(by request: RecordedRequest) -> ServerReply {
        request.duration("interval").map { pacing(every: $0) } ?? self
    }

    /// In ten pieces, with a pause before each.
    fileprivate func slowed(_ body: ReplyBody, over duration: Duration) -> ServerReply {
        guard let count = body.count, count > 0 else { return self }
        let size = (count + 9) / 10
        var reply = self
        reply.body = .generated(count: count) { Array(body.piece($0).prefix(size)) }
        return reply.pacing(every: duration / ((count + size - 1) / size))
    }
}

extension ReplyBody {
    /// Pseudorandom bytes: each depends on its offset and on the seed only.
    ///
    /// - Parameters:
    ///   - seed: Any number; the same seed gives the same bytes.
    ///   - count: How many bytes there are.
    public static func seeded(_ seed: Int, count: Int) -> ReplyBody {
        seeded(seed, count: count, pieces: 64 * 1024)
    }

    static func seeded(_ seed: Int, count: Int, pieces: Int) -> ReplyBody {
        let count = max(count, 0)
        return .generated(count: count) { offset in
            let end = offset + min(pieces, count - offset)
            return [UInt8](unsafeUninitializedCapacity: end - offset) { buffer, used in
                for position in offset..<end { buffer[position - offset] = mixed(position, seed: seed) }
                used = end - offset
            }
        }
    }

    /// One step of SplitMix64 for each eight bytes.
    private static func mixed(_ position: Int, seed: Int) -> UInt8 {
        var state = UInt64(truncatingIfNeeded: seed) &+ UInt64(position / 8 + 1) &* 0x9E37_79B9_7F4A_7C15
        state = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ state >> 27) &* 0x94D0_49BB_1331_11EB
        state ^= state >> 31
        return UInt8(truncatingIfNeeded: state >> UInt64(position % 8 * 8))
    }
}

extension RecordedRequest {
    /// The same request for one range that begins later.
    fileprivate func shifted(by distance: Int, in count: Int) -> RecordedRequest {
        guard distance > 0, case .parts(let parts) = RangeSelection(headers["Range"], in: count), let part = parts.first
        else { return self }
        let start = min(part.lowerBound + distance, part.upperBound - 1)
        var request = self
        request.headers["Range"] = "bytes=\(start)-\(part.upperBound - 1)"
        return request
    }
}
