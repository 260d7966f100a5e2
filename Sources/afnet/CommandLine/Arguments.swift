package import AFURLSession

/// A command line, or one of its groups if it has `--next`.
package struct Arguments: Sendable, Equatable {
    package enum Action: String, Sendable, CaseIterable {
        case transfer = "get"
        case pins, images, lint, reach, serve, events, ws, completion, help, version
    }

    package enum Body: Sendable, Equatable {
        case text(String)
        case file(String)
        /// Sent with PUT, and never held in memory whole. There may be more in `uploads`.
        case upload(String)
        /// A multipart form, sent with POST.
        case form([FormPart])
        /// The fields of a form, some of them from files.
        case pieces([BodyPiece])
        case json([BodyPiece])
    }

    // MARK: The request

    package internal(set) var action = Action.transfer
    /// The words that are not options: URLs, or the operands of another command.
    package internal(set) var urls: [String] = []
    package internal(set) var method: String?
    package internal(set) var fields: [HeaderOption] = []
    package internal(set) var userAgent: String?
    package internal(set) var referer: String?
    /// Requests after redirects have a Referer.
    package internal(set) var refersToRedirects = false
    package internal(set) var body: Body?
    /// The body goes into the query.
    package internal(set) var isQuery = false
    /// The files to upload; the k-th belongs to the k-th URL, and URLs without one are loaded.
    package internal(set) var uploads: [String] = []
    /// Fields for the query, whatever the method is.
    package internal(set) var query: [BodyPiece] = []
    /// HEAD, or another method of which the head of the response is all that counts.
    package internal(set) var isHead = false
    /// Whether lists in URLs stand for several URLs.
    package internal(set) var expandsURLs = true
    /// Whether `.` and `..` stay in paths.
    package internal(set) var keepsDots = false
    package internal(set) var schemes = SchemeRules()
    package internal(set) var refusesUserInURL = false
    package internal(set) var timeCondition: TimeCondition?
    /// The file with the ETag of a former response.
    package internal(set) var formerEtag: String?
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
    /// Whether what a proxy answers to `CONNECT` is not among the heads.
    package internal(set) var hidesTunnel = false
    /// Whether no file is replaced.
    package internal(set) var keepsFiles = false
    /// Whether the file of a failed transfer is removed.
    package internal(set) var removesFailed = false
    /// Whether the file gets the time that the server gives.
    package internal(set) var keepsTime = false
    /// The file for the ETag of the response.
    package internal(set) var etagFile: String?
    /// The file for the heads of all responses.
    package internal(set) var headFile: String?
    package internal(set) var writeOut: String?
    /// The file for a line of JSON about each URL.
    package internal(set) var report: String?
    package internal(set) var failure: StatusFailure?
    package internal(set) var maximumSize: Int64?
    package internal(set) var resume: ResumeOption?
    /// The most requests that load one file at a time.
    package internal(set) var parts: Int?
    package internal(set) var redirects = RedirectOptions()
    package internal(set) var retries = RetryOptions()
    package internal(set) var cache: String?
    package internal(set) var cacheMode = CacheMode.default
    var hasCacheMode = false

    // MARK: Connections

    /// In seconds; 0 is no limit.
    package internal(set) var maximumTime: Double = 0
    /// The same for connecting, and for TLS.
    package internal(set) var connectTime: Double = 0
    /// In bytes a second, each way.
    package internal(set) var rate: Int?
    package internal(set) var speed = SpeedLimit()
    /// How long a body waits for the answer to `Expect`, in seconds; nil for the usual time.
    package internal(set) var continueTime: Double?
    package internal(set) var family: AddressFamily?
    /// The address or the interface that connections are made from.
    package internal(set) var source: String?
    /// In seconds; nil for the usual time, 0 for never.
    package internal(set) var probeTime: Double?
    package internal(set) var unixSocket: String?
    /// The values of `--connect-to`; the first that matches counts.
    var connectsTo: [HostOverride] = []
    /// The values of `--resolve`; the first that matches counts, and one for any host after those for one.
    private var addresses: [ResolvedHost] = []
    package internal(set) var proxy = ProxyOptions()
    package internal(set) var security = SecurityOptions()

    // MARK: Credentials

    package internal(set) var login: Login?
    package internal(set) var loginScheme = LoginScheme.basic
    package internal(set) var bearer: String?
    package internal(set) var netrc: NetrcOption?
    package internal(set) var cookies = CookieOptions()

    // MARK: Several URLs

    package internal(set) var isParallel = false
    package internal(set) var parallelMaximum: Int?
    package internal(set) var failsEarly = false
    /// The seconds from the beginning of one URL to that of the next, at least.
    package internal(set) var pace: Double?

    // MARK: Options of single commands

    package internal(set) var graphics = GraphicsMode.auto
    /// How many columns an image may have.
    package internal(set) var width: Int?
    /// The hosts of `--host`.
    package internal(set) var hosts: [String] = []
    package internal(set) var isOnce = false
    package internal(set) var lastEventID = ""
    package internal(set) var printsJSON = false

    // MARK: WebSockets

    package internal(set) var isBinary = false
    /// In seconds.
    package internal(set) var pingInterval: Double?
    package internal(set) var subprotocols: [String] = []
    package internal(set) var offersDeflate = true
    package internal(set) var port: UInt16?
    package internal(set) var isSecured = false
    package internal(set) var authorityFile: String?
    package internal(set) var topic: String?

    // MARK: Messages

    package internal(set) var isSilent = false
    package internal(set) var showsErrors = false
    package internal(set) var progress = ProgressStyle.full
    package internal(set) var isVerbose = false
    package internal(set) var showsSecrets = false
    package internal(set) var dump: DumpOption?
    /// The file for messages; `-` is standard output.
    package internal(set) var errorFile: String?
    /// The file with more options; it is read as soon as it is named.
    var config: String?

    // MARK: Combined options

    /// Adds to the body. Several parts of one kind make one body.
    mutating func addBody(_ addition: Body) throws(ArgumentError) {
        switch (body, addition) {
        case (nil, _): body = addition
        case (.form(let earlier), .form(let later)): body = .form(earlier + later)
        case (.json(let earlier), .json(let later)): body = .json(earlier + later)
        default: throw .usage("a request has one body: fields, a form, --json, --data-file or --upload-file")
        }
    }

    /// `--fail` and `--fail-with-body`, of which one only can hold.
    mutating func setFailure(_ mode: StatusFailure, isOn: Bool) throws(ArgumentError) {
        if isOn, let failure, failure != mode { throw .usage("--fail and --fail-with-body exclude each other") }
        if isOn || failure == mode { failure = isOn ? mode : nil }
    }

    /// Adds a file for the next URL that has none.
    mutating func addUpload(_ path: String) throws(ArgumentError) {
        if uploads.isEmpty { try addBody(.upload(path)) }
        uploads.append(path)
    }

    /// These arguments for one of the URLs: its upload is the body, if it has one.
    func narrowed(to upload: String?) -> Arguments {
        guard !uploads.isEmpty else { return self }
        var arguments = self
        arguments.body = upload.map(Body.upload)
        return arguments
    }

    /// Whether a `--header` sets the field Authorization, or takes it out.
    var setsAuthorization: Bool {
        fields.contains { field in
            switch field.lowercased {
            case .set("authorization", _), .removed("authorization"): true
            case .set, .removed: false
            }
        }
    }

    var isUpload: Bool { if case .upload = body { true } else { false } }

    /// Whether a redirect with this status drops the body: it has fields or a form, and no option keeps it.
    func dropsBody(over status: Int) -> Bool {
        !isUpload && (301...303).contains(status) && !redirects.keepsPost.contains(status)
    }

    /// Whether the head of the response is shown.
    var showsHead: Bool { includesHead || isHead }

    /// Adds a field to the form of `--data`.
    mutating func addPiece(_ piece: BodyPiece) throws(ArgumentError) {
        switch (body, piece) {
        case (nil, .text(let text)): body = .text(text)
        case (.text(let earlier), .text(let later)): body = .text("\(earlier)&\(later)")
        case (.text(let earlier), _): body = .pieces([.text(earlier), piece])
        case (.pieces(let earlier), _): body = .pieces(earlier + [piece])
        default: try addBody(.pieces([piece]))
        }
    }

    /// `URL`, `URL;auto` or `;auto`
    mutating func setReferer(_ text: String) {
        refersToRedirects = text.hasSuffix(";auto")
        let url = refersToRedirects ? String(text.dropLast(5)) : text
        referer = url.isEmpty ? nil : url
    }

    /// Adds a value of `--resolve`, or takes out what another one said of the host and port. It takes the place of a former
    /// one for the same host and port.
    mutating func resolve(_ text: String, of name: String) throws(ArgumentError) {
        let resolved = try ResolvedHost(text, of: name)
        if resolved.override == nil {
            addresses.removeAll { $0.isForSamePlace(as: resolved) }
        } else {
            addresses.insert(resolved, at: 0)
        }
    }

    /// Where hosts are; the first that matches counts.
    package var overrides: [HostOverride] {
        let (ofAny, ofOne) = (addresses.filter(\.isForAny), addresses.filter { !$0.isForAny })
        return connectsTo + (ofOne + ofAny).compactMap(\.override)
    }

    /// The paths among the targets.
    package var outputs: [String] {
        targets.compactMap { if case .path(let path) = $0 { path } else { nil } }
    }

    /// - Parameter index: The index of the URL in its group.
    func target(at index: Int) -> OutputTarget {
        index < targets.count ? targets[index] : namesAll ? .remoteName : .path("-")
    }
}

extension Console {
    init(_ arguments: Arguments, prefix: String = "") {
        self.init(isSilent: arguments.isSilent && !arguments.showsErrors, prefix: prefix)
    }
}
