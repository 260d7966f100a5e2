/// The name that a mistyped one most likely is.
enum Nearest {
    /// Nil if none is near.
    static func name(to word: String, among names: [String]) -> String? {
        let letters = Array(word.lowercased().utf8)
        guard (3...40).contains(letters.count) else { return nil }
        let most = letters.count < 6 ? 1 : 2
        let near = names.map { (name: $0, distance: distance(from: letters, to: Array($0.utf8))) }.filter {
            $0.distance <= most
        }
        if let best = near.min(by: { $0.distance < $1.distance })?.name { return best }
        // The beginning of one name, and of no other.
        let longer = names.filter { $0.utf8.starts(with: letters.prefix(max(4, letters.count - 1))) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// How many letters are wrong, missing, too many, or in the place of their neighbour.
    private static func distance(from one: [UInt8], to other: [UInt8]) -> Int {
        var rows = [Array(0...other.count)]
        for i in 0..<one.count {
            var row = [i + 1]
            for j in 0..<other.count {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
