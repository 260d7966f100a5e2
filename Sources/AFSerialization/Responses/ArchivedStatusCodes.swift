import Foundation

/// Sets of status codes as they are archived: the first and the last code of each range.
struct ArchivedStatusCodes: Codable {
    let indexes: IndexSet

    init(_ indexes: IndexSet) {
        self.indexes = indexes
    }

    init(from decoder: any Decoder) throws {
        var indexes = IndexSet()
        for ends in try [[Int]](from: decoder) {
            // An index set traps at numbers it has no room for.
            guard ends.count == 2, ends[0] >= 0, ends[0] <= ends[1], ends[1] <= Int(Int32.max) else {
                throw CocoaError(.coderReadCorrupt)
            }
            indexes.insert(integersIn: ends[0]...ends[1])
        }
        self.indexes = indexes
    }

    func encode(to encoder: any Encoder) throws {
        try indexes.rangeView.map { [$0.lowerBound, min($0.upperBound - 1, Int(Int32.max))] }.encode(to: encoder)
    }
}
