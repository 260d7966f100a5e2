/// A command line, understood.
package struct Arguments: Sendable, Equatable {
    package enum Action: Sendable { case transfer, pins, help, version }

    package enum Body: Sendable, Equatable {
        case text(String)
        case file(String)
    }

    package fileprivate(set) var action = Action.transfer
    package fileprivate(set) var urls: [String] = []
    package fileprivate(set) var method: String?
    package fileprivate(set) var fields: [HeaderOption] = []
    package fileprivate(set) var body: Body?
    package fileprivate(set) var isHead = false
    /// The k-th belongs to the k-th URL.
    package fileprivate(set) var outputs: [String] = []
    package fileprivate(set) var includesHead = false
    package fileprivate(set) var failsOnStatus = false
    /// In seconds; 0 is no limit.
    package fileprivate(set) var maximumTime: Double = 0
    package fileprivate(set) var maximumSize: Int64?
    package fileprivate(set) var unixSocket: String?
    package fileprivate(set) var security = SecurityOptions()
    package fileprivate(set) var isSilent = false
    package fileprivate(set) var showsErrors = false
    package fileprivate(set) var isVerbose = false

    /// All options that were given.
    private var given: Set<CommandOption> = []

    /// - Parameter words: the arguments without the name of the program.
    package init(_ words: [String]) throws(ArgumentError) {
        var rest = words[...]
        if rest.first == "get" {
            rest.removeFirst()
        } else if rest.first == "pins" {
            rest.removeFirst()
            action = .pins
        }
        while let word = rest.popFirst() {
            if word == "--" {
                urls += rest
                break
            } else if word.hasPrefix("--") {
                try takeLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try takeLetters(word, &rest)
            } else {
                urls.append(word)
            }
        }
        switch action {
        case .transfer: try check()
        case .pins: try checkInspection()
        case .help, .version: break
        }
    }

    private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(ArgumentError) {
        guard let option = CommandOption(name: String(word.dropFirst(2))) else {
            throw .usage("there is no option \(word)")
        }
        try apply(option, option.takesValue ? Self.value(of: word, &rest) : "", as: word)
    }

    /// `-sf` is `-s -f`; `-m5` is `-m 5`.
    private mutating func takeLetters(_ word: String, _ rest: inout ArraySlice<String>) throws(ArgumentError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = CommandOption(letter: letter) else { throw .usage("there is no option -\(letter)") }
            // curl's -I shows the head; --head only sends HEAD, and leaves the output to the body.
            if letter == "I" { includesHead = true }
            guard option.takesValue else {
                try apply(option, "", as: "-\(letter)")
                continue
            }
            let value = try letters.isEmpty ? Self.value(of: "-\(letter)", &rest) : String(letters)
            return try apply(option, value, as: "-\(letter)")
        }
    }

    private static func value(of name: String, _ rest: inout ArraySlice<String>) throws(ArgumentError) -> String {
        guard let value = rest.popFirst() else { throw .usage("\(name) needs a value") }
        return value
    }

    private mutating func apply(_ option: CommandOption, _ value: String, as name: String) throws(ArgumentError) {
        given.insert(option)
        switch option {
        case .cacert: security.authorities = value
        case .cert: security.certificate = value
        case .certPassFile: security.passphraseFile = value
        case .data: try addBody(.text(value))
        case .dataFile: try addBody(.file(value))
        case .fail: failsOnStatus = true
        case .head: isHead = true
        case .header: fields.append(try HeaderOption(value))
        case .help: action = .help
        case .include: includesHead = true
        case .insecure: security.isInsecure = true
        case .key: security.privateKey = value
        case .maxFilesize: maximumSize = try Self.size(value, of: name)
        case .maxTime: maximumTime = try Self.seconds(value, of: name)
        case .output: outputs.append(value)
        case .pin: security.pins.append(try PinOption(value, of: name))
        case .pinnedCert: security.pinnedCertificates.append(value)
        case .request: method = value
        case .showError: showsErrors = true
        case .silent: isSilent = true
        case .unixSocket: unixSocket = try Self.socketPath(value, of: name)
        case .verbose: isVerbose = true
        case .version: action = .version
        }
    }

    /// Several `--data` are the fields of one form.
    private mutating func addBody(_ addition: Body) throws(ArgumentError) {
        switch (body, addition) {
        case (nil, _): body = addition
        case (.text(let earlier), .text(let later)): body = .text("\(earlier)&\(later)")
        default: throw .usage("--data-file stands alone: a request has one body")
        }
    }

    private func check() throws(ArgumentError) {
        if urls.isEmpty { throw .usage("there is no URL") }
        if outputs.count > urls.count { throw .usage("there are more --output than URLs") }
        if isHead, body != nil { throw .usage("--head has no body to send") }
        try security.check()
    }

    /// What makes sense for `afnet pins`, which sends nothing.
    private static let inspectionOptions: Set<CommandOption> = [
        .cacert, .maxTime, .showError, .silent, .unixSocket, .verbose,
    ]

    private func checkInspection() throws(ArgumentError) {
        guard urls.count == 1 else { throw .usage("pins needs one HOST, HOST:PORT or FILE") }
        let others = CommandOption.allCases.filter { given.contains($0) && !Self.inspectionOptions.contains($0) }
        guard let option = others.first else { return }
        throw .usage("pins has no use for --\(option.rawValue)")
    }
}

// MARK: - Values

extension Arguments {
    private static func seconds(_ text: String, of name: String) throws(ArgumentError) -> Double {
        guard let seconds = Double(text), seconds.isFinite, seconds >= 0 else {
            throw .usage("\(name) needs a number of seconds, not \"\(text)\"")
        }
        return seconds
    }

    private static func size(_ text: String, of name: String) throws(ArgumentError) -> Int64 {
        guard let size = Int64(text), size >= 0 else {
            throw .usage("\(name) needs a number of bytes, not \"\(text)\"")
        }
        return size
    }

    /// The room for a path in `sockaddr_un`, less the NUL.
    private static func socketPath(_ path: String, of name: String) throws(ArgumentError) -> String {
        guard (1...107).contains(path.utf8.count) else {
            throw .badArgument("\(name) needs a path of 1 to 107 bytes")
        }
        return path
    }
}
