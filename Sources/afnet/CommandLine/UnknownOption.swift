/// An option that afnet does not have, with the reason or the nearest name.
struct UnknownOption {
    let error: ArgumentError

    init(_ letter: Character) {
        let reason = CurlOptions.refusal(of: "-\(letter)").map {
            "-\(letter) is an option of curl that afnet refuses: \($0)"
        }
        error = .usage(reason ?? "there is no option -\(letter)")
    }

    /// - Parameter name: The long name without its dashes.
    init(_ name: String) {
        error = .usage(Self.reason(name))
    }

    private static func reason(_ name: String) -> String {
        // --name=value is no form of curl's.
        if let sign = name.firstIndex(of: "="), OptionTable.standard.named(String(name[..<sign])) != nil {
            return "there is no option --\(name): the value is a word of its own, --\(name[..<sign]) VALUE"
        }
        if let reason = CurlOptions.refusal(of: "--\(name)") {
            return "--\(name) is an option of curl that afnet refuses: \(reason)"
        }
        let positive = name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
        if positive != name, OptionTable.standard[positive] != nil {
            return "--\(name): --\(positive) is no switch, and has no opposite"
        }
        let names = OptionTable.standard.options.flatMap(\.names)
        return "there is no option --\(name)"
            + (Nearest.name(to: name, among: names).map { "; did you mean --\($0)?" } ?? "")
    }
}

/// The name that a mistyped one most likely is.
enum Nearest {
    /// Nil if none is near.
    static func name(to word: String, among names: [String]) -> String? {
        let letters = Array(word.lowercased().utf8)
        guard (3...40).contains(letters.count) else { return nil }
        let most = letters.count < 6 ? 1 : 2
        let near = names.map { (name: $0, distance: distance(letters, Array($0.utf8))) }.filter { $0.distance <= most }
        if let best = near.min(by: { $0.distance < $1.distance })?.name { return best }
        // The beginning of one name, and of no other.
        let longer = names.filter { $0.utf8.starts(with: letters.prefix(max(4, letters.count - 1))) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// How many letters are wrong, missing, too many, or in the place of their neighbour.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
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

extension Arguments {
    /// Refuses a first word that is nearly the name of a command, and cannot be a host with a dot or a port.
    func checkCommand(_ word: String?) throws(ArgumentError) {
        guard action == .transfer, let word, !word.hasPrefix("-"), !word.contains(where: { ".:/[{".contains($0) }),
            word != "localhost"
        else { return }
        let names = Action.allCases.map(\.rawValue) + ["cookies", "verify-chain"]
        if let name = Nearest.name(to: word, among: names) {
            throw .usage("there is no command \(word); did you mean \(name)? A host of that name is http://\(word)/")
        }
    }
}
