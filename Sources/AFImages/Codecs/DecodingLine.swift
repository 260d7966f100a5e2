/// Decides which pictures are decoded now and which wait: a limited number at once, with limited memory, first come,
/// first served.
struct DecodingLine {
    private let maximumDecodes: Int
    private let maximumBytes: Int
    private var waiting: [(id: Int, bytes: Int)] = []
    private(set) var active = 0
    private(set) var bytes = 0

    init(maximumDecodes: Int, maximumBytes: Int) {
        self.maximumDecodes = max(maximumDecodes, 1)
        self.maximumBytes = max(maximumBytes, 0)
    }

    /// - Returns: The pictures to decode now.
    mutating func join(_ id: Int, bytes: Int) -> [Int] {
        waiting.append((id, bytes))
        return admit()
    }

    /// Removes a picture that has been decoded.
    ///
    /// - Returns: The pictures to decode now.
    mutating func leave(bytes: Int) -> [Int] {
        active -= 1
        self.bytes -= bytes
        return admit()
    }

    /// Removes a picture that waits.
    ///
    /// - Returns: Whether it was waiting, and the pictures to decode now.
    mutating func withdraw(_ id: Int) -> (hasWaited: Bool, begin: [Int]) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return (false, []) }
        waiting.remove(at: index)
        return (true, admit())
    }

    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        // A picture that is larger than all the memory is decoded alone.
        while let next = waiting.first, active == 0 || active < maximumDecodes && next.bytes <= maximumBytes - bytes {
            waiting.removeFirst()
            active += 1
            bytes += next.bytes
            admitted.append(next.id)
        }
        return admitted
    }
}
