import AFLoop

/// Which bytes of a file are missing, and which request loads which of them. It knows no request, no connection and no
/// file: `PartedDownload` tells it what happens.
struct PartPlan {
    /// The bytes that one request loads.
    private struct Part {
        /// Up to here they are in the file.
        var written: Int64
        /// Up to here they have arrived.
        var arrived: Int64
        var end: Int64
        let start: Int64
        let begun: LoopInstant

        /// Whether the rest of it takes longer than that of another, each at its pace until now.
        func isSlower(than other: Part, at now: LoopInstant) -> Bool {
            let one = Double(end - arrived) * time(at: now) * Double(max(other.arrived - other.start, 1))
            let two = Double(other.end - other.arrived) * other.time(at: now) * Double(max(arrived - start, 1))
            return one > two
        }

        private func time(at now: LoopInstant) -> Double { max(Double(begun.nanoseconds(to: now)), 1) }
    }

    /// A split begins where a page of the file does.
    private static let grain: Int64 = 4096

    /// The length of the file; `Int64.max` until it is known.
    private(set) var total: Int64
    /// No request loads fewer bytes, unless fewer are missing.
    private let smallest: Int64
    /// Missing bytes that no request loads, in order.
    private var free: [Range<Int64>]
    private var parts: [Int: Part] = [:]

    init(total: Int64, missing: [Range<Int64>], smallest: Int64) {
        self.total = total
        self.smallest = max(smallest, PartPlan.grain)
        free = missing
    }

    /// All bytes are missing.
    ///
    /// - Parameter count: How many requests load them, if none is slower than another.
    init(total: Int64, count: Int, smallest: Int64) {
        let most = Int64(count).clamped(to: 1...max(total / max(smallest, PartPlan.grain), 1))
        let edges = (0..<most).map { total / most * $0 / PartPlan.grain * PartPlan.grain } + [total]
        self.init(
            total: total,
            missing: zip(edges, edges.dropFirst()).compactMap { $0 < $1 ? $0..<$1 : nil },
            smallest: smallest
        )
    }

    var isComplete: Bool { free.isEmpty && parts.values.allSatisfy { $0.written == $0.end } }

    /// What is not in the file, in order.
    var missing: [Range<Int64>] {
        let asked = parts.values.compactMap { $0.written < $0.end ? $0.written..<$0.end : nil }
        return PartPlan.joined(free + asked)
    }

    var missingCount: Int64 {
        free.reduce(0) { $0 + Int64($1.count) } + parts.values.reduce(0) { $0 + $1.end - $1.written }
    }

    private static func joined(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, next in
            guard let last = joined.last, last.upperBound == next.lowerBound else { return joined.append(next) }
            joined[joined.count - 1] = last.lowerBound..<next.upperBound
        }
    }

    // MARK: - Who loads what

    /// The bytes that another request is to load: some that none loads, or half of what is left of the slowest part.
    ///
    /// - Returns: Nil if nothing is missing that is worth a request.
    mutating func begin(_ number: Int, at now: LoopInstant) -> Range<Int64>? {
        guard let range = free.isEmpty ? split(at: now) : free.removeFirst() else { return nil }
        parts[number] = Part(
            written: range.lowerBound,
            arrived: range.lowerBound,
            end: range.upperBound,
            start: range.lowerBound,
            begun: now
        )
        return range
    }

    private mutating func split(at now: LoopInstant) -> Range<Int64>? {
        let splittable = parts.filter { $1.end - $1.arrived >= 2 * smallest }
        guard let (number, part) = splittable.max(by: { $1.value.isSlower(than: $0.value, at: now) }) else {
            return nil
        }
        let middle = (part.arrived + (part.end - part.arrived) / 2) / PartPlan.grain * PartPlan.grain
        parts[number]?.end = middle
        return middle..<part.end
    }

    /// The bytes that a part still waits for; nil if it has ended.
    func awaited(by number: Int) -> Range<Int64>? { parts[number].map { $0.arrived..<$0.end } }

    /// Bytes of a part have arrived: no more than it waits for.
    mutating func arrived(_ count: Int, of number: Int) {
        parts[number]?.arrived += Int64(count)
    }

    /// Bytes of a part are in the file: no more than have arrived.
    mutating func wrote(_ count: Int, of number: Int) {
        parts[number]?.written += Int64(count)
    }

    /// A part that has all its bytes goes on with those behind them, if no request loads these.
    ///
    /// - Returns: Whether it waits for more bytes now.
    mutating func extend(_ number: Int) -> Bool {
        guard let end = parts[number]?.end, let next = free.firstIndex(where: { $0.lowerBound == end }) else {
            return false
        }
        parts[number]?.end = free.remove(at: next).upperBound
        return true
    }

    /// A part has ended. What it has not written is missing as before.
    mutating func end(_ number: Int) {
        guard let part = parts.removeValue(forKey: number), part.written < part.end else { return }
        free = PartPlan.joined(free + [part.written..<part.end])
    }

    /// The body has ended, and shows how long the file is.
    mutating func end(of number: Int, makes total: Int64) {
        self.total = total
        parts[number]?.end = total
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
