/// A command line, understood; or one group of it, if there is a `--next`.
package struct Arguments: Sendable, Equatable {
    package enum Action: Sendable { case transfer, pins, images, help, version }

    package enum Body: Sendable, Equatable {
        case text(String)
        case file(String)
        /// Sent with PUT, and never held in memory as a whole.
        case upload(String)
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
    /// The file that the heads of all responses are added to.
    package fileprivate(set) var headFile: String?
    package fileprivate(set) var failure: StatusFailure?
    /// In seconds; 0 is no limit.
    package fileprivate(set) var maximumTime: Double = 0
    /// The same for connecting, and for TLS.
    package fileprivate(set) var connectTime: Double = 0
    package fileprivate(set) var maximumSize: Int64?
    package fileprivate(set) var unixSocket: String?
    package fileprivate(set) var security = SecurityOptions()
    package fileprivate(set) var redirects = RedirectOptions()
    package fileprivate(set) var login: Login?
    package fileprivate(set) var loginScheme = LoginScheme.basic
    package fileprivate(set) var bearer: String?
    /// The file with passwords; empty is the one in the home folder.
    package fileprivate(set) var netrc: String?
    package fileprivate(set) var cookies = CookieOptions()
    package fileprivate(set) var proxy = ProxyOptions()
    package fileprivate(set) var range: String?
    package fileprivate(set) var resume: ResumeOption?
    package fileprivate(set) var isCompressed = false
    package fileprivate(set) var cache: String?
    package fileprivate(set) var cacheMode = CacheMode.default
    package fileprivate(set) var graphics = GraphicsMode.auto
    /// How many columns a picture may have.
    package fileprivate(set) var width: Int?
    package fileprivate(set) var isSilent = false
    package fileprivate(set) var showsErrors = false
    package fileprivate(set) var isVerbose = false

    /// All options that were given.
    private var given: Set<CommandOption> = []

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
        if groups.count > 1, let action = groups.map(\.action).first(where: { $0 == .pins || $0 == .images }) {
            throw .usage("\(action) stands alone: leave out --next")
        }
        return groups
    }

    /// Takes words up to a `--next`, which is taken as well.
    private init(_ rest: inout ArraySlice<String>) throws(ArgumentError) {
        if rest.first == "get" {
            rest.removeFirst()
        } else if rest.first == "pins" {
            rest.removeFirst()
            action = .pins
        } else if rest.first == "images" {
            rest.removeFirst()
            action = .images
        }
        var hasNext = false
        while !hasNext, let word = rest.popFirst() {
            if word == "--next" || word == "-:" {
                hasNext = true
            } else if word == "--" {
                urls += rest
                rest = []
            } else if word.hasPrefix("--") {
                try takeLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try takeLetters(word, &rest)
            } else {
                urls.append(word)
            }
        }
        if hasNext, rest.isEmpty { throw .usage("nothing follows --next") }
        switch action {
        case .transfer: try check()
        case .pins: try checkInspection()
        case .images: try checkImages()
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
}

// MARK: - Options

extension Arguments {
    private mutating func apply(_ option: CommandOption, _ value: String, as name: String) throws(ArgumentError) {
        given.insert(option)
        switch option {
        case .bearer: bearer = value
        case .cache: cache = value
        case .cacheMode: cacheMode = try Self.choice(value, of: name)
        case .compressed: isCompressed = true
        case .connectTimeout: connectTime = try Self.seconds(value, of: name)
        case .data: try addBody(.text(value))
        case .dataFile: try addBody(.file(value))
        case .dumpHeader: headFile = value
        case .fail: failure = .dropsBody
        case .failWithBody: failure = .keepsBody
        case .graphics: graphics = try Self.choice(value, of: name)
        case .head: isHead = true
        case .header: fields.append(try HeaderOption(value))
        case .help: action = .help
        case .include: includesHead = true
        case .maxFilesize: maximumSize = try Self.size(value, of: name)
        case .maxTime: maximumTime = try Self.seconds(value, of: name)
        case .netrc: netrc = netrc ?? ""
        case .netrcFile: netrc = value
        case .output: outputs.append(value)
        case .range: range = value
        case .request: method = value
        case .resume: resume = .size
        case .resumeFrom: resume = value == "-" ? .size : .offset(try Self.size(value, of: name))
        case .showError: showsErrors = true
        case .silent: isSilent = true
        case .unixSocket: unixSocket = try Self.socketPath(value, of: name)
        case .uploadFile: try addBody(.upload(value))
        case .verbose: isVerbose = true
        case .version: action = .version
        case .width: width = try Self.count(value, of: name)
        default: try applyToParts(option, value, as: name)
        }
    }

    /// Options that belong to one of the groups of properties.
    private mutating func applyToParts(_ option: CommandOption, _ value: String, as name: String) throws(ArgumentError)
    {
        switch option {
        case .auth: loginScheme = try Self.choice(value, of: name)
        case .user: login = Login(value)
        case .cacert: security.authorities = value
        case .cert: security.certificate = value
        case .certPassFile: security.passphraseFile = value
        case .insecure: security.isInsecure = true
        case .key: security.privateKey = value
        case .pin: security.pins.append(try PinOption(value, of: name))
        case .pinnedCert: security.pinnedCertificates.append(value)
        case .keepPost: redirects.keepsPost.insert(try Self.redirectStatus(value, of: name))
        case .location: redirects.isFollowing = true
        case .locationTrusted: (redirects.isFollowing, redirects.isTrusting) = (true, true)
        case .maxRedirs: redirects.maximum = Int(clamping: try Self.size(value, of: name))
        case .proxy: proxy.address = value
        case .proxyAuth: proxy.scheme = try Self.choice(value, of: name)
        case .proxyHeader: proxy.fields.append(try HeaderOption(value))
        case .proxytunnel: proxy.tunnels = true
        case .proxyUser: proxy.login = Login(value)
        case .noproxy: proxy.bypassed = value
        case .cookie: try cookies.add(value, of: name)
        case .cookies: cookies.isOn = true
        case .cookieFile: (cookies.isOn, cookies.files) = (true, cookies.files + [value])
        case .cookieJar: (cookies.isOn, cookies.jar) = (true, value)
        case .junkSessionCookies: cookies.skipsSessionCookies = true
        default: preconditionFailure("nobody applies \(name)")
        }
    }

    /// Several `--data` are the fields of one form.
    private mutating func addBody(_ addition: Body) throws(ArgumentError) {
        switch (body, addition) {
        case (nil, _): body = addition
        case (.text(let earlier), .text(let later)): body = .text("\(earlier)&\(later)")
        default: throw .usage("a request has one body: one --data-file or --upload-file stands alone")
        }
    }

    // MARK: Checking

    private func check() throws(ArgumentError) {
        if urls.isEmpty { throw .usage("there is no URL") }
        if outputs.count > urls.count { throw .usage("there are more --output than URLs") }
        if isHead, body != nil { throw .usage("--head has no body to send") }
        if body == .upload("-"), urls.count > 1 { throw .usage("standard input can be sent to one URL only") }
        if login != nil, bearer != nil { throw .usage("--user and --bearer exclude each other") }
        if resume != nil, range != nil { throw .usage("--range and --resume exclude each other") }
        if resume == .size, outputs.count < urls.count || outputs.contains("-") {
            throw .usage("--resume needs an --output for each URL: its size says where to go on")
        }
        if given.contains(.cacheMode), cache == nil { throw .usage("--cache-mode needs --cache") }
        if let option = [CommandOption.graphics, .width].first(where: given.contains) {
            throw .usage("--\(option.rawValue) is for images")
        }
        try security.check()
        try proxy.check()
    }

    /// What makes sense for `afnet images`, which gets pictures and nothing else.
    private static let imageOptions: Set<CommandOption> = [
        .bearer, .cacert, .cache, .cacheMode, .cert, .certPassFile, .connectTimeout, .graphics, .header, .insecure,
        .key, .maxFilesize, .maxTime, .netrc, .netrcFile, .noproxy, .pin, .pinnedCert, .proxy, .proxyAuth, .proxyHeader,
        .proxytunnel, .proxyUser, .showError, .silent, .unixSocket, .user, .verbose, .width,
    ]

    private mutating func checkImages() throws(ArgumentError) {
        redirects.isFollowing = true
        if urls.isEmpty { throw .usage("images needs a URL") }
        try refuse(allBut: Self.imageOptions, of: "images")
        if login != nil, bearer != nil { throw .usage("--user and --bearer exclude each other") }
        if given.contains(.cacheMode), cache == nil { throw .usage("--cache-mode needs --cache") }
        try security.check()
        try proxy.check()
    }

    /// What makes sense for `afnet pins`, which sends nothing.
    private static let inspectionOptions: Set<CommandOption> = [
        .cacert, .maxTime, .showError, .silent, .unixSocket, .verbose,
    ]

    private func checkInspection() throws(ArgumentError) {
        guard urls.count == 1 else { throw .usage("pins needs one HOST, HOST:PORT or FILE") }
        try refuse(allBut: Self.inspectionOptions, of: "pins")
    }

    /// Refuses all options but some.
    private func refuse(allBut known: Set<CommandOption>, of command: String) throws(ArgumentError) {
        let others = CommandOption.allCases.filter { given.contains($0) && !known.contains($0) }
        guard let option = others.first else { return }
        throw .usage("\(command) has no use for --\(option.rawValue)")
    }
}
