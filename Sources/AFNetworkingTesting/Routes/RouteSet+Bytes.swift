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
        let url = JSONText.string(request.absoluteTarget)
        let written = Lock(0)
        return .generated { _ in
            let number = written.change { written in
                defer { written += 1 }
                return written
            }
            guard number < count else { return [] }
            return Array((JSONText.object([("id", .number(number)), ("url", url)]).text + "\n").utf8)
        }
    }
}

extension ServerReply {
    fileprivate func paced(by request: RecordedRequest) -> ServerReply {
        request.duration("interval").map { pacing(every: $0) } ?? self
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
                for position in offset..<end { buffer[position - offset] = mixed(position, seed) }
                used = end - offset
            }
        }
    }

    /// One step of SplitMix64 for each eight bytes.
    private static func mixed(_ position: Int, _ seed: Int) -> UInt8 {
        var state = UInt64(truncatingIfNeeded: seed) &+ UInt64(position / 8 + 1) &* 0x9E37_79B9_7F4A_7C15
        state = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ state >> 27) &* 0x94D0_49BB_1331_11EB
        state ^= state >> 31
        return UInt8(truncatingIfNeeded: state >> UInt64(position % 8 * 8))
    }
}
