package import AFURLSession

/// A command line, understood; or one group of it, if there is a `--next`.
package struct Arguments: Sendable, Equatable {
    package enum Action: String, Sendable, CaseIterable {
        case transfer = "get"
        case pins, images, lint, reach, serve, completion, help, version
    }

    package enum Body: Sendable, Equatable {
        case text(String)
        case file(String)
        /// Sent with PUT, and never held in memory as a whole.
        case upload(String)
        /// A multipart form, sent with POST.
        case form([FormPart])
        /// The fields of a form, some of them from files.
        case pieces([BodyPiece])
        case json([BodyPiece])
    }

    // MARK: The request

    package internal(set) var action = Action.transfer
    /// What stands on the command line and is no option: URLs, or what else the command takes.
    package internal(set) var urls: [String] = []
    package internal(set) var method: String?
    package internal(set) var fields: [HeaderOption] = []
    package internal(set) var userAgent: String?
    package internal(set) var referer: String?
    /// Redirects name where they came from.
    package internal(set) var refersToRedirects = false
    package internal(set) var body: Body?
    /// The body goes into the query.
    package internal(set) var isQuery = false
    /// A URL that ends in a slash gets the name of the file that is sent.
    package internal(set) var namesUpload = false
    package internal(set) var isHead = false
    package internal(set) var range: String?
    package internal(set) var isCompressed = false
    package internal(set) var usesHTTP10 = false

    // MARK: The response

    /// The k-th belongs to the k-th URL.
    package internal(set) var targets: [OutputTarget] = []
    package internal(set) var namesAll = false
    package internal(set) var takesServersName = false
    package internal(set) var outputFolder: String?
    package internal(set) var makesFolders = false
    package internal(set) var includesHead = false
    /// The file that the heads of all responses are added to.
    package internal(set) var headFile: String?
    package internal(set) var writeOut: String?
    /// The file that gets a line of JSON about each URL.
    package internal(set) var report: String?
    package internal(set) var failure: StatusFailure?
    package internal(set) var maximumSize: Int64?
    package internal(set) var resume: ResumeOption?
    package internal(set) var redirects = RedirectOptions()
    package internal(set) var retries = RetryOptions()
    package internal(set) var cache: String?
    package internal(set) var cacheMode = CacheMode.default
    var hasCacheMode = false

    // MARK: The way there

    /// In seconds; 0 is no limit.
    package internal(set) var maximumTime: Double = 0
    /// The same for connecting, and for TLS.
    package internal(set) var connectTime: Double = 0
    /// In bytes a second, each way.
    package internal(set) var rate: Int?
    package internal(set) var unixSocket: String?
    /// Where hosts are to be found; the first that fits counts.
    package internal(set) var overrides: [HostOverride] = []
    package internal(set) var proxy = ProxyOptions()
    package internal(set) var security = SecurityOptions()

    // MARK: Who we are

    package internal(set) var login: Login?
    package internal(set) var loginScheme = LoginScheme.basic
    package internal(set) var bearer: String?
    /// The file with passwords; empty is the one in the home folder.
    package internal(set) var netrc: String?
    package internal(set) var cookies = CookieOptions()

    // MARK: Several URLs

    package internal(set) var isParallel = false
    package internal(set) var parallelMaximum: Int?
    package internal(set) var failsEarly = false

    // MARK: Of single commands

    package internal(set) var graphics = GraphicsMode.auto
    /// How many columns a picture may have.
    package internal(set) var width: Int?
    /// Whose rules are wanted.
    package internal(set) var hosts: [String] = []
    package internal(set) var isOnce = false
    package internal(set) var port: UInt16?
    package internal(set) var isSecured = false
    package internal(set) var authorityFile: String?
    package internal(set) var topic: String?

    // MARK: What is said

    package internal(set) var isSilent = false
    package internal(set) var showsErrors = false
    package internal(set) var progress = ProgressStyle.full
    package internal(set) var isVerbose = false
    package internal(set) var showsSecrets = false

    /// - Parameter words: the arguments without the name of the program.
    package init(_ words: [String]) throws(ArgumentError) {
        var rest = words[...]
        try self.init(&rest)
        if !rest.isEmpty { throw .usage("there is more than one group") }
    }

    /// All groups of a command line. Options of one mean nothing to the next.
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

    /// Takes words up to a `--next`, which is taken as well.
    private init(_ rest: inout ArraySlice<String>) throws(ArgumentError) {
        if let action = rest.first.flatMap(Action.init(rawValue:)) {
            rest.removeFirst()
            self.action = action
        }
        // What follows is for one command only, whatever --help makes of it.
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
            // curl's -I shows the head; --head only sends HEAD, and leaves the output to the body.
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
        guard action == .help, topic == nil, let word = rest.first, HelpTopic.named(word) != nil else { return }
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
    /// There is one group of it.
    var standsAlone: Bool {
        switch self {
        case .transfer, .help, .version: false
        case .pins, .images, .lint, .reach, .serve, .completion: true
        }
    }

    /// Those of its options. Help and the like take those of all commands: somebody may have put --help in front.
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
    /// Of commands, for errors.
    fileprivate var names: String {
        Arguments.Action.allCases.filter { $0 != .transfer && $0.standsAlone && contains($0.options) }
            .filter { $0 != .completion }.map(\.rawValue).joined(separator: ", ")
    }
}
