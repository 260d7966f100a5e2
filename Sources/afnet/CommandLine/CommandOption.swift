/// The options, by their long names.
enum CommandOption: String, CaseIterable {
    case auth
    case bearer
    case cacert
    case cache
    case cacheMode = "cache-mode"
    case cert
    case certPassFile = "cert-pass-file"
    case compressed
    case connectTimeout = "connect-timeout"
    case cookie
    case cookieFile = "cookie-file"
    case cookieJar = "cookie-jar"
    case cookies
    case data
    case dataFile = "data-file"
    case dumpHeader = "dump-header"
    case fail
    case failWithBody = "fail-with-body"
    case head
    case graphics
    case header
    case help
    case include
    case insecure
    case junkSessionCookies = "junk-session-cookies"
    case keepPost = "keep-post"
    case key
    case location
    case locationTrusted = "location-trusted"
    case maxFilesize = "max-filesize"
    case maxRedirs = "max-redirs"
    case maxTime = "max-time"
    case netrc
    case netrcFile = "netrc-file"
    case noproxy
    case output
    case pin
    case pinnedCert = "pinned-cert"
    case proxy
    case proxyAuth = "proxy-auth"
    case proxyHeader = "proxy-header"
    case proxytunnel
    case proxyUser = "proxy-user"
    case range
    case request
    case resume
    case resumeFrom = "resume-from"
    case showError = "show-error"
    case silent
    case unixSocket = "unix-socket"
    case uploadFile = "upload-file"
    case user
    case verbose
    case version
    case width

    /// curl's letters.
    private static let letters: [Character: CommandOption] = [
        "b": .cookie, "c": .cookieJar, "C": .resumeFrom, "d": .data, "D": .dumpHeader, "E": .cert, "f": .fail,
        "H": .header, "h": .help, "i": .include, "I": .head, "j": .junkSessionCookies, "k": .insecure, "L": .location,
        "m": .maxTime, "n": .netrc, "o": .output, "p": .proxytunnel, "r": .range, "s": .silent, "S": .showError,
        "T": .uploadFile, "u": .user, "U": .proxyUser, "v": .verbose, "V": .version, "x": .proxy, "X": .request,
    ]

    /// The next argument, or the rest of a group of letters, belongs to all others.
    private static let withoutValue: Set<CommandOption> = [
        .compressed, .cookies, .fail, .failWithBody, .head, .help, .include, .insecure, .junkSessionCookies, .location,
        .locationTrusted, .netrc, .proxytunnel, .resume, .showError, .silent, .verbose, .version,
    ]

    var takesValue: Bool { !Self.withoutValue.contains(self) }

    /// curl's names for options of ours.
    private static let otherNames: [String: CommandOption] = [
        "continue-at": .resumeFrom, "oauth2-bearer": .bearer, "pinnedpubkey": .pin,
    ]

    init?(name: String) {
        guard let option = Self(rawValue: name) ?? Self.otherNames[name] else { return nil }
        self = option
    }

    init?(letter: Character) {
        guard let option = Self.letters[letter] else { return nil }
        self = option
    }
}
