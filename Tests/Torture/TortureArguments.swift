import AFTorture

/// What was asked for on the command line.
struct TortureArguments {
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var scenarios = Scenario.all
    private(set) var options = Torture.Options()
    /// The one to play in this process.
    private(set) var played: Scenario?

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            guard let value = words.next() else { throw Mistake(description: "\(word) needs a value") }
            try take(word, value)
        }
        guard options.only == nil || played != nil || scenarios.count == 1 else {
            throw Mistake(description: "--fault needs --scenario")
        }
    }

    private mutating func take(_ word: String, _ value: String) throws(Mistake) {
        switch word {
        case "--group":
            guard let group = Scenario.Group(rawValue: value) else {
                let known = Scenario.Group.allCases.map(\.rawValue).joined(separator: ", ")
                throw Mistake(description: "there is no group \(value), but \(known)")
            }
            scenarios = scenarios.filter { $0.group == group }
        case "--scenario": scenarios = [try Self.scenario(value)]
        case "--play": played = try Self.scenario(value)
        case "--sample":
            guard let percent = Double(value), percent > 0, percent <= 100 else {
                throw Mistake(description: "--sample takes a percentage above 0 and up to 100, not \(value)")
            }
            options.percent = percent
        case "--seed":
            guard let seed = UInt64(value) else {
                throw Mistake(description: "--seed takes a whole number, not \(value)")
            }
            options.seed = seed
        case "--fault": options.only = value
        case "--after": options.last = value
        default: throw Mistake(description: "\(word) is unknown: see ./dev help")
        }
    }

    private static func scenario(_ id: String) throws(Mistake) -> Scenario {
        guard let scenario = Scenario.all.first(where: { $0.id == id }) else {
            throw Mistake(description: "there is no scenario \(id): \(Scenario.all.map(\.id).joined(separator: " "))")
        }
        return scenario
    }
}
