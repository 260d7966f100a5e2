// Interim, until the wire module's decoder is there.
struct HTTP1Error: Error { let detail: String }
struct HTTPHeaders: Sendable { var fields: [(name: String, value: String)] = [] }
struct RequestHead: Sendable { let method: String; let target: String; let headers: HTTPHeaders }
struct RequestDecoder {
    enum Event { case needMore, head(RequestHead), body(UnsafeRawBufferPointer), end(trailers: HTTPHeaders) }
    struct Step { let consumed: Int; let event: Event }
    private var line: [UInt8] = []
    private enum Mode { case head, length(Int), chunkLine, chunk(Int), chunkEnd, trailers, done }
    private var mode = Mode.head
    private var trailers = HTTPHeaders()
    mutating func decode(_ input: UnsafeRawBufferPointer) throws(HTTP1Error) -> Step {
        switch mode {
        case .done: return Step(consumed: 0, event: .end(trailers: trailers))
        case .length(0): mode = .done; return Step(consumed: 0, event: .end(trailers: trailers))
        case .length(let n), .chunk(let n):
            if input.isEmpty { return Step(consumed: 0, event: .needMore) }
            let take = min(n, input.count)
            if case .length = mode { mode = .length(n - take) } else { mode = take == n ? .chunkEnd : .chunk(n - take) }
            return Step(consumed: take, event: .body(UnsafeRawBufferPointer(rebasing: input[..<take])))
        case .head, .chunkLine, .chunkEnd, .trailers: break
        }
        for (i, byte) in input.enumerated() {
            line.append(byte)
            let isLine = line.suffix(2) == [13, 10]
            switch mode {
            case .head where line.suffix(4) == [13, 10, 13, 10]:
                let head = try parse(line); line = []
                return Step(consumed: i + 1, event: .head(head))
            case .chunkLine where isLine:
                guard let size = Int(String(decoding: line.dropLast(2).prefix { $0 != 59 }, as: UTF8.self), radix: 16)
                else { throw HTTP1Error(detail: "bad chunk size") }
                line = []; mode = size == 0 ? .trailers : .chunk(size)
                if size > 0 {
                    let rest = try decode(UnsafeRawBufferPointer(rebasing: input[(i + 1)...]));
                    return Step(consumed: rest.consumed + i + 1, event: rest.event)
                }
            case .chunkEnd where isLine: line = []; mode = .chunkLine
            case .trailers where line == [13, 10]:
                mode = .done; return Step(consumed: i + 1, event: .end(trailers: trailers))
            case .trailers where isLine: trailers.fields += try fields(line); line = []
            default: break
            }
        }
        return Step(consumed: input.count, event: .needMore)
    }
    private func fields(_ block: [UInt8]) throws(HTTP1Error) -> [(name: String, value: String)] {
        var out: [(name: String, value: String)] = []
        for l in block.split(whereSeparator: { $0 == 13 || $0 == 10 }) {
            guard let c = l.firstIndex(of: 58), c > l.startIndex else { throw HTTP1Error(detail: "bad header") }
            let v = l[(c + 1)...].drop { $0 == 32 || $0 == 9 }.reversed().drop { $0 == 32 || $0 == 9 }.reversed()
            out.append((String(decoding: l[..<c], as: UTF8.self), String(decoding: Array(v), as: UTF8.self)))
        }
        return out
    }
    private mutating func parse(_ block: [UInt8]) throws(HTTP1Error) -> RequestHead {
        let first = block.prefix { $0 != 13 }
        let parts = first.split(separator: 32, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), !parts[0].isEmpty, !parts[1].isEmpty else {
            throw HTTP1Error(detail: "bad request line")
        }
        let headers = HTTPHeaders(fields: try fields(Array(block.dropFirst(first.count))))
        mode = .length(0)
        for f in headers.fields {
            if f.name.lowercased() == "content-length" {
                guard let n = Int(f.value) else { throw HTTP1Error(detail: "bad length") }
                mode = .length(n)
            }
            if f.name.lowercased() == "transfer-encoding" { mode = .chunkLine }
        }
        return RequestHead(method: parts[0], target: parts[1], headers: headers)
    }
}
