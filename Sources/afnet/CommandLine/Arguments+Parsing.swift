extension Arguments {
    /// - Parameter words: The arguments without the name of the program.
    package init(_ words: [String]) throws(ArgumentError) {
        var rest = words[...]
        try self.init(&rest)
        if !rest.isEmpty { throw .usage("there is more than one group") }
    }

    /// All groups of a command line. The options of a group hold for that group only.
    package static func groups(_ words: [String]) throws(ArgumentError) -> [Arguments] {
        var rest = words[...]
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
    private init(_ rest: inout ArraySlice<String>) throws(ArgumentError) {
        self.init()
        if let action = rest.first.flatMap(Action.init(rawValue:)) {
            rest.removeFirst()
            self.action = action
        }
        // --help changes `action`, but the options stay those of the command.
        let command = action
        var hasNext = false
        while !hasNext, let word = rest.popFirst() {
            if word == "--next" || word == "-:" {
                hasNext = true
            } else if word == "--" {
                urls += rest
                rest = []
            } else if word.hasPrefix("--") {
                try takeLong(word, &rest, command)
            } else if word.hasPrefix("-"), word != "-" {
                try takeLetters(word, &rest, command)
            } else {
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
        _ rest: inout ArraySlice<String>,
        _ command: Action
    ) throws(ArgumentError) {
        guard let option = OptionTable.standard[String(word.dropFirst(2))] else {
            throw .usage("there is no option \(word)")
        }
        try apply(option, option.takesValue ? Self.value(of: word, &rest) : "", as: word, command)
        takeTopic(&rest)
    }

    /// `-sf` is `-s -f`; `-m5` is `-m 5`.
    private mutating func takeLetters(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        _ command: Action
    ) throws(ArgumentError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = OptionTable.standard[letter] else { throw .usage("there is no option -\(letter)") }
            // curl's -I shows the head; --head only sends HEAD.
            if letter == "I" { includesHead = true }
            guard option.takesValue else {
                try apply(option, "", as: "-\(letter)", command)
                continue
            }
            let value = try letters.isEmpty ? Self.value(of: "-\(letter)", &rest) : String(letters)
            return try apply(option, value, as: "-\(letter)", command)
        }
        takeTopic(&rest)
    }

    /// `--help tls`
    private mutating func takeTopic(_ rest: inout ArraySlice<String>) {
        guard action == .help, topic == nil, let word = rest.first, HelpTopicName(rawValue: word) != nil else { return }
        topic = word
        rest.removeFirst()
    }

    private static func value(of name: String, _ rest: inout ArraySlice<String>) throws(ArgumentError) -> String {
        guard let value = rest.popFirst() else { throw .usage("\(name) needs a value") }
        return value
    }

    private mutating func apply(
        _ option: CommandOption,
        _ value: String,
        as name: String,
        _ command: Action
    ) throws(ArgumentError) {
        guard option.commands.contains(command.options) else {
            if command == .transfer { throw .usage("\(name) is for \(option.commands.names)") }
            throw .usage("\(command.rawValue) has no use for \(name)")
        }
        do {
            try option.effect(&self, CommandOption.Given(value: value, name: name))
        } catch let error as ArgumentError {
            throw error
        } catch {
            throw .usage("\(name): \(error)")
        }
    }
}

extension Arguments.Action {
    /// Whether the command takes one group only.
    var standsAlone: Bool {
        switch self {
        case .transfer, .help, .version: false
        case .pins, .images, .lint, .reach, .serve, .completion: true
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
