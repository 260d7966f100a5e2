import Glibc

extension Arguments {
    /// - Parameter words: The arguments without the name of the program.
    package init(_ words: [String]) throws(ArgumentError) {
        var rest = WordQueue(words)
        try self.init(&rest)
        if !rest.isEmpty { throw .usage("there is more than one group") }
    }

    /// All groups of a command line. The options of a group hold for that group only.
    package static func groups(_ words: [String]) throws(ArgumentError) -> [Arguments] {
        var rest = WordQueue(words)
        return try groups(&rest)
    }

    /// The same, with the places of the secrets among the words, also if one of the words is refused.
    package static func groups(_ rest: inout WordQueue) throws(ArgumentError) -> [Arguments] {
        var groups: [Arguments] = []
        repeat {
            groups.append(try Arguments(&rest))
        } while !rest.isEmpty
        if groups.count > 1, let action = groups.map(\.action).first(where: { $0.standsAlone }) {
            throw .usage("\(action.rawValue) stands alone: leave out --next")
        }
        return groups
    }

    /// Takes words up to and including a `--next`.
    private init(_ rest: inout WordQueue) throws(ArgumentError) {
        self.init()
        if let action = rest.first.flatMap(Action.init(rawValue:)) {
            rest.pop()
            self.action = action
        } else {
            try checkCommand(rest.first)
        }
        // --help changes `action`, but the options stay those of the command.
        let command = action
        var hasNext = false
        while !hasNext, let word = rest.pop() {
            if word == "--next" || word == "-:" {
                // A group has a URL: in front of the first one it says nothing, as in config files of which several are named.
                hasNext = !urls.isEmpty
            } else if word == "--" {
                while let url = rest.popURL() { urls.append(url) }
            } else if word.hasPrefix("--") {
                try takeLong(word, rest: &rest, for: command)
            } else if word.hasPrefix("-"), word != "-" {
                try takeLetters(word, rest: &rest, for: command)
            } else {
                rest.hide(.login, in: word)
                urls.append(word)
            }
        }
        if action == .images { redirects.isFollowing = true }
        if action == .help, command != .help, command != .transfer, topic == nil { topic = command.rawValue }
        if hasNext, rest.isEmpty { throw .usage("nothing follows --next") }
        try check()
    }

    private mutating func takeLong(
        _ word: String,
        rest: inout WordQueue,
        for command: Action
    ) throws(ArgumentError) {
        let name = String(word.dropFirst(2))
        guard let (option, isOn) = OptionTable.standard.named(name) else { throw UnknownOption(name).error }
        let value = try option.takesValue ? Self.value(of: word, from: &rest) : ""
        rest.hide(option.secret, in: value)
        try apply(option, given: CommandOption.Occurrence(value: value, name: word, isOn: isOn), for: command)
        try takeConfig(&rest)
        takeTopic(&rest)
    }

    /// `-sf` is `-s -f`; `-m5` is `-m 5`.
    private mutating func takeLetters(
        _ word: String,
        rest: inout WordQueue,
        for command: Action
    ) throws(ArgumentError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = OptionTable.standard[letter] else { throw UnknownOption(letter).error }
            guard option.takesValue else {
                try apply(option, given: CommandOption.Occurrence(value: "", name: "-\(letter)"), for: command)
                continue
            }
            let value = try letters.isEmpty ? Self.value(of: "-\(letter)", from: &rest) : String(letters)
            rest.hide(option.secret, in: value)
            try apply(option, given: CommandOption.Occurrence(value: value, name: "-\(letter)"), for: command)
            return try takeConfig(&rest)
        }
        takeTopic(&rest)
    }

    /// Puts the options of a `--config` in front of the words that are left.
    private mutating func takeConfig(_ rest: inout WordQueue) throws(ArgumentError) {
        guard let path = config else { return }
        config = nil
        try rest.insert(ConfigFile(path).words)
    }

    /// `--help tls`
    private mutating func takeTopic(_ rest: inout WordQueue) {
        guard action == .help, topic == nil, let word = rest.first, HelpTopicName(rawValue: word) != nil else { return }
        topic = word
        rest.pop()
    }

    private static func value(of name: String, from rest: inout WordQueue) throws(ArgumentError) -> String {
        guard let value = rest.pop() else { throw .usage("\(name) needs a value") }
        return value
    }

    private mutating func apply(
        _ option: CommandOption,
        given: CommandOption.Occurrence,
        for command: Action
    ) throws(ArgumentError) {
        guard option.commands.contains(command.options) else {
            if command == .transfer { throw .usage("\(given.name) is for \(option.commands.names)") }
            throw .usage("\(command.rawValue) has no use for \(given.name)")
        }
        do {
            try option.effect(&self, given)
        } catch let error as ArgumentError {
            throw error
        } catch {
            throw .usage("\(given.name): \(error)")
        }
    }

    // MARK: - The values of options

    /// 31 years, which every clock can wait for.
    private static let longestTime: Double = 1_000_000_000

    static func seconds(_ text: String, of name: String) throws(ArgumentError) -> Double {
        guard let seconds = Double(text), (0...longestTime).contains(seconds) else {
            throw .usage("\(name) needs a number of seconds, at most 1000000000, not \"\(text)\"")
        }
        return seconds
    }

    static func size(_ text: String, of name: String) throws(ArgumentError) -> Int64 {
        guard let size = Int64(text), size >= 0 else {
            throw .usage("\(name) needs a number that is not negative, not \"\(text)\"")
        }
        return size
    }

    /// A size, perhaps with `k` (1024), `M` (1024²) or `G` (1024³) after it.
    static func amount(_ text: String, of name: String) throws(ArgumentError) -> Int64 {
        let units: [Character: Int64] = ["b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        let number = try size(unit == nil ? text : String(text.dropLast()), of: name)
        let (amount, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        return isTooLarge ? .max : amount
    }

    /// `N`, `N/s`, `N/m`, `N/h` or `N/d`: how many URLs in a second, minute, hour or day; an hour unless it is said. Returns
    /// the seconds for one.
    static func pace(_ text: String, of name: String) throws(ArgumentError) -> Double {
        let units = ["s": 1.0, "m": 60, "h": 3600, "d": 86_400]
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let count = Int(parts[0]), count > 0, let unit = units[parts.count > 1 ? String(parts[1]) : "h"] else {
            throw .usage("\(name) needs a number, and perhaps /s, /m, /h or /d behind it, not \"\(text)\"")
        }
        return unit / Double(count)
    }

    /// A number with `k` (1024), `M` (1024²) or `G` (1024³) after it, or without a unit.
    static func rate(_ text: String, of name: String) throws(ArgumentError) -> Int {
        let units: [Character: Double] = ["b": 1, "k": 1024, "m": 1024 * 1024, "g": 1024 * 1024 * 1024]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        guard let number = Double(unit == nil ? text : String(text.dropLast())), number.isFinite else {
            throw .usage("\(name) needs a number of bytes, or one with k, M or G behind it, not \"\(text)\"")
        }
        let rate = number * (unit ?? 1)
        guard (1...1e12).contains(rate) else { throw .usage("\(name) needs 1 to 1000000000000 bytes in a second") }
        return Int(rate)
    }

    static func port(_ text: String, of name: String) throws(ArgumentError) -> UInt16 {
        guard let port = UInt16(text) else { throw .usage("\(name) needs a number from 0 to 65535, not \"\(text)\"") }
        return port
    }

    static func count(_ text: String, of name: String) throws(ArgumentError) -> Int {
        guard let count = Int(text), (1...10_000).contains(count) else {
            throw .usage("\(name) needs a number from 1 to 10000, not \"\(text)\"")
        }
        return count
    }

    /// `sockaddr_un` has room for 107 bytes and a NUL.
    static func socketPath(_ path: String, of name: String) throws(ArgumentError) -> String {
        guard (1...107).contains(path.utf8.count) else {
            throw .badArgument("\(name) needs a path of 1 to 107 bytes")
        }
        return path
    }

    /// An address, or the name of an interface; `if!` and `host!` in front say which, as in curl.
    static func source(_ text: String, of name: String) throws(ArgumentError) -> String {
        let source = ["if!", "host!"].first { text.hasPrefix($0) }.map { String(text.dropFirst($0.count)) } ?? text
        var bytes = in6_addr()
        let isAddress = inet_pton(AF_INET, source, &bytes) == 1 || inet_pton(AF_INET6, source, &bytes) == 1
        guard isAddress || if_nametoindex(source) > 0 else {
            throw ArgumentError(
                code: .badInterface,
                message: "\(name): \"\(source)\" is no interface and no address of this machine"
            )
        }
        return source
    }

    static func redirectStatus(_ text: String, of name: String) throws(ArgumentError) -> Int {
        guard let status = Int(text), (301...303).contains(status) else {
            throw .usage("\(name) needs 301, 302 or 303, not \"\(text)\"")
        }
        return status
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String,
        of name: String
    ) throws(ArgumentError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(name) knows \(known), not \"\(text)\"")
        }
        return choice
    }
}

extension Arguments.Action {
    /// Whether the command takes one group only.
    var standsAlone: Bool {
        switch self {
        case .transfer, .help, .version: false
        case .pins, .images, .lint, .reach, .serve, .events, .ws, .completion: true
        }
    }

    /// The options that the command takes. help, version and completion take those of a transfer.
    var options: CommandOption.Commands {
        switch self {
        case .transfer, .help, .version, .completion: .transfer
        case .pins: .pins
        case .images: .images
        case .lint: .lint
        case .reach: .reach
        case .serve: .serve
        case .events: .events
        case .ws: .ws
        }
    }
}

extension CommandOption.Commands {
    /// The names of commands, for errors.
    fileprivate var names: String {
        Arguments.Action.allCases.filter { $0 != .transfer && $0.standsAlone && contains($0.options) }
            .filter { $0 != .completion }.map(\.rawValue).joined(separator: ", ")
    }
}
