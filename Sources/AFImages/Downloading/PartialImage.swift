import AFBase
import AFNetworking
import Foundation

/// The part of an image that had arrived when its download was interrupted, and the validator that tells whether the
/// image is still the same.
struct PartialImage: Sendable {
    enum Validator: Hashable, Sendable {
        /// A strong entity tag, quotes included.
        case entityTag(String)
        /// A date before that of the response: an image that changed in the same second could change again in that
        /// second.
        case lastModified(String)

        var fieldValue: String {
            switch self {
            case .entityTag(let value), .lastModified(let value): value
            }
        }
    }

    /// The largest part that is kept.
    static let maximumSize = 16 << 20
    /// The longest validator that is kept.
    private static let maximumValidator = 1024

    private(set) var data = Data()
    /// The announced length of the whole image.
    private let total: Int64?
    private let validator: Validator

    /// An empty part of a response that can be resumed; nil if it cannot.
    init?(response: URLResponse, to request: URLRequest) {
        guard let response = response as? HTTPURLResponse, response.statusCode == 200,
            request.httpMethod ?? "GET" == "GET", request.value(forHTTPHeaderField: "Range") == nil,
            Self.isUncoded(response), Self.mayBeKept(response), let validator = Self.validator(of: response)
        else { return nil }
        self.validator = validator
        total = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
    }

    /// Whether it is worth asking for the rest.
    var isWorthKeeping: Bool { !data.isEmpty && total.map { Int64(data.count) < $0 } ?? true }

    /// Adds what has arrived.
    ///
    /// - Returns: Whether there is room for it.
    mutating func append(_ bytes: Data) -> Bool {
        guard bytes.count <= Self.maximumSize - data.count else { return false }
        data.append(bytes)
        return true
    }

    /// The request for the rest, or for the whole if the image has changed (RFC 9110 §13.1.5).
    func request(forRestOf request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("bytes=\(data.count)-", forHTTPHeaderField: "Range")
        request.setValue(validator.fieldValue, forHTTPHeaderField: "If-Range")
        // Ranges count coded bytes: ask for no coding.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    /// Whether a response with the status 206 is the rest, all of it and of the same image.
    func isCompleted(by response: HTTPURLResponse) -> Bool {
        guard Self.isUncoded(response),
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ByteRange.init),
            range.first == Int64(data.count), range.last == range.total - 1, total ?? range.total == range.total
        else { return false }
        switch validator {
        case .entityTag(let tag): return response.value(forHTTPHeaderField: "ETag") == tag
        case .lastModified(let date): return response.value(forHTTPHeaderField: "Last-Modified") ?? date == date
        }
    }

    // MARK: - What a response says

    private static func isUncoded(_ response: HTTPURLResponse) -> Bool {
        ["", "identity"].contains(ASCII.lowered(response.value(forHTTPHeaderField: "Content-Encoding") ?? ""))
    }

    private static func mayBeKept(_ response: HTTPURLResponse) -> Bool {
        let ranges = response.value(forHTTPHeaderField: "Accept-Ranges") ?? ""
        let rules = response.value(forHTTPHeaderField: "Cache-Control") ?? ""
        return ASCII.lowered(ranges) != "none" && !ASCII.lowered(rules).contains("no-store")
    }

    private static func validator(of response: HTTPURLResponse) -> Validator? {
        if let tag = response.value(forHTTPHeaderField: "ETag") {
            let isStrong = tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            return isStrong && isUsable(tag) ? .entityTag(tag) : nil
        }
        guard let date = response.value(forHTTPHeaderField: "Last-Modified"), isUsable(date),
            let sent = response.value(forHTTPHeaderField: "Date"), sent != date
        else { return nil }
        return .lastModified(date)
    }

    private static func isUsable(_ value: String) -> Bool {
        value.utf8.count <= maximumValidator && value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}

/// The value of a field `Content-Range`: `bytes 5-9/10`.
private struct ByteRange {
    let first: Int64
    let last: Int64
    let total: Int64

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, ASCII.lowered(words[0]) == "bytes" else { return nil }
        let numbers = words[1].split(whereSeparator: { "-/".contains($0) }).map(ASCII.number)
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1], let total = numbers[2],
            words[1] == "\(first)-\(last)/\(total)", first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }
}

/// Parts of images whose downloads were interrupted: the latest ones, at most 32 MiB in memory.
final class PartialImages: Sendable {
    fileprivate struct State: Sendable {
        var parts: [(key: ImageDownloadKey, part: PartialImage)] = []
        var byteCount = 0
    }

    static let room = 32 << 20

    private let state = Lock(State())
    private let pressure = Lock<MemoryPressure.Observation?>(nil)

    init(memoryPressure: MemoryPressure) {
        let observation = memoryPressure.observe { [weak self] in self?.removeAll() }
        pressure.withLock { $0 = observation }
    }

    func keep(_ part: PartialImage, for key: ImageDownloadKey) {
        state.withLock { state in
            _ = state.take(key)
            state.parts.append((key, part))
            state.byteCount += part.data.count
            while state.byteCount > Self.room { state.byteCount -= state.parts.removeFirst().part.data.count }
        }
    }

    /// Removes and returns the part for a key.
    func take(_ key: ImageDownloadKey) -> PartialImage? { state.withLock { $0.take(key) } }

    func removeAll() {
        state.withLock { $0 = State() }
    }

    var byteCount: Int { state.withLock { $0.byteCount } }
}

extension PartialImages.State {
    fileprivate mutating func take(_ key: ImageDownloadKey) -> PartialImage? {
        guard let index = parts.firstIndex(where: { $0.key == key }) else { return nil }
        let part = parts.remove(at: index).part
        byteCount -= part.data.count
        return part
    }
}
