import Foundation

/// Refuses property lists that Foundation could not read without running out of stack or memory.
enum PropertyListGuard {
    /// How many arrays and dictionaries may be within each other.
    static let deepestLevel = 128

    static func check(_ data: Data) throws {
        guard BinaryPropertyList.isOne(data) else { return }
        // Writers name strings and numbers repeatedly, hence more objects than bytes; containers they write anew.
        try BinaryPropertyList(data).check(deepest: deepestLevel, most: 4 * data.count)
    }

    static let malformed = CocoaError.unreadable("The property list is malformed")
    static let tooDeep = CocoaError.unreadable(
        "The property list has more than \(deepestLevel) arrays and dictionaries within each other"
    )
    static let tooLarge = CocoaError.unreadable(
        "The property list names the same objects so often that it would become too large"
    )
}

/// The structure of a binary property list: which objects hold which others.
///
/// Foundation reads such lists by recursion, with up to two kilobytes of stack for each level, and a list may name one
/// object many times: ten arrays that each hold the next one ten times say ten billion. So both depth and number are
/// checked first.
struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int

    static func isOne(_ data: Data) -> Bool { data.starts(with: Array("bplist0".utf8)) }

    /// - Throws: If the trailer does not fit the data.
    init(_ data: Data) throws {
        bytes = [UInt8](data)
        let trailer = bytes.count - 32
        guard trailer > 8 else { throw PropertyListGuard.malformed }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = try Self.number(bytes, offset: trailer + 8, size: 8)
        topObject = try Self.number(bytes, offset: trailer + 16, size: 8)
        tableOffset = try Self.number(bytes, offset: trailer + 24, size: 8)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), topObject < objectCount,
            tableOffset < trailer, objectCount <= (trailer - tableOffset) / offsetSize
        else { throw PropertyListGuard.malformed }
    }

    /// Checks all that the top object holds.
    ///
    /// - Throws: If containers are deeper within each other than `deepest`, or hold themselves, or if more than `most`
    ///   objects would result, each counted as often as it is named.
    func check(deepest: Int, most: Int) throws {
        guard let topMembers = try members(of: topObject) else { return }
        var known: [Int: Extent] = [:]
        var path = [Visit(object: topObject, members: topMembers)]
        var onPath: Set<Int> = [topObject]
        // How many members were read. Containers may share the bytes that name their members, so those alone may be far
        // more than the list has bytes; at least so many objects would result.
        var named = topMembers.count
        while var visit = path.popLast() {
            guard let child = visit.next() else {
                known[visit.object] = visit.extent
                onPath.remove(visit.object)
                guard visit.extent.height <= deepest else { throw PropertyListGuard.tooDeep }
                guard visit.extent.count <= most else { throw PropertyListGuard.tooLarge }
                path.last.map { $0.extent.adding(visit.extent) }.map { path[path.count - 1].extent = $0 }
                continue
            }
            let extent = known[child]
            guard extent == nil, let members = try members(of: child) else {
                visit.extent = visit.extent.adding(extent ?? Extent())
                path.append(visit)
                continue
            }
            guard onPath.insert(child).inserted else { throw PropertyListGuard.malformed }
            named += members.count
            guard named <= most else { throw PropertyListGuard.tooLarge }
            path.append(visit)
            path.append(Visit(object: child, members: members))
            guard path.count <= deepest + 2 else { throw PropertyListGuard.tooDeep }
        }
    }

    // MARK: - Reading

    /// The size of an object.
    private struct Extent {
        /// How many containers are within each other, this one among them.
        var height = 0
        var count = 1

        func adding(_ child: Extent) -> Extent {
            let (sum, overflow) = count.addingReportingOverflow(child.count)
            return Extent(height: max(height, child.height + 1), count: overflow ? Int.max : sum)
        }
    }

    /// A container whose members are being checked.
    private struct Visit {
        let object: Int
        var extent = Extent()
        private var members: [Int]

        init(object: Int, members: [Int]) {
            self.object = object
            self.members = members
        }

        mutating func next() -> Int? { members.popLast() }
    }

    /// Whether a marker is one that writers use: Foundation traps at sets, and takes null for an object.
    private static func isKnown(_ marker: UInt8) -> Bool {
        switch marker {
        case 0x08, 0x09, 0x10...0x14, 0x22, 0x23, 0x33, 0x40...0x6F, 0x80...0x8F, 0xA0...0xAF, 0xD0...0xDF: true
        default: false
        }
    }

    /// The objects that an array or a dictionary holds; nil for other objects.
    private func members(of object: Int) throws -> [Int]? {
        let offset = try Self.number(bytes, offset: tableOffset + object * offsetSize, size: offsetSize)
        guard offset < tableOffset, Self.isKnown(bytes[offset]) else { throw PropertyListGuard.malformed }
        let marker = bytes[offset]
        let perEntry = marker >> 4 == 0xD ? 2 : 1
        guard marker >= 0xA0 else { return nil }
        let (count, start) = try length(marker, after: offset)
        guard count <= (tableOffset - start) / (referenceSize * perEntry) else { throw PropertyListGuard.malformed }
        return try (0..<count * perEntry).map { index in
            let member = try Self.number(bytes, offset: start + index * referenceSize, size: referenceSize)
            guard member < objectCount else { throw PropertyListGuard.malformed }
            return member
        }
    }

    /// How many entries a container has, and where they begin.
    private func length(_ marker: UInt8, after offset: Int) throws -> (count: Int, start: Int) {
        guard marker & 0xF == 0xF else { return (Int(marker & 0xF), offset + 1) }
        // The number is an object of its own: its marker says of how many bytes it is.
        guard offset + 1 < tableOffset, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 0xF <= 3 else {
            throw PropertyListGuard.malformed
        }
        let size = 1 << Int(bytes[offset + 1] & 0xF)
        guard offset + 2 + size <= tableOffset else { throw PropertyListGuard.malformed }
        return (try Self.number(bytes, offset: offset + 2, size: size), offset + 2 + size)
    }

    private static func number(_ bytes: [UInt8], offset: Int, size: Int) throws -> Int {
        let value = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int(exactly: value) else { throw PropertyListGuard.malformed }
        return number
    }
}
