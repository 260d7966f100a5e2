/// Who may decode now and who has to wait: so many at once, and so much memory among them, first come, first served.
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

    /// - Returns: Who is to begin now.
    mutating func join(_ id: Int, bytes: Int) -> [Int] {
        waiting.append((id, bytes))
        return admit()
    }

    /// Takes account of one that began and is done.
    ///
    /// - Returns: Who is to begin now.
    mutating func leave(bytes: Int) -> [Int] {
        active -= 1
        self.bytes -= bytes
        return admit()
    }

    /// Forgets one that waits.
    ///
    /// - Returns: Whether it did, and who is to begin now that it stands in nobody's way.
    mutating func withdraw(_ id: Int) -> (hasWaited: Bool, begin: [Int]) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return (false, []) }
        waiting.remove(at: index)
        return (true, admit())
    }

    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        // What is too large for all the memory there is has it alone.
        while let next = waiting.first, active == 0 || active < maximumDecodes && next.bytes <= maximumBytes - bytes {
            waiting.removeFirst()
            active += 1
            bytes += next.bytes
            admitted.append(next.id)
        }
        return admitted
    }
}
