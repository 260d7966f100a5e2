/// The exit code of a run. The numbers are curl's.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    /// The scheme is not supported, the reply is not HTTP/1.x, or has a content type that `afnet events` does not read.
    case unsupported = 1
    case usage = 2
    case malformedURL = 3
    case proxyNotResolved = 5
    case nameNotResolved = 6
    case cannotConnect = 7
    case headNotUnderstood = 8
    case otherProtocolError = 16
    case truncated = 18
    case statusRefused = 22
    case cannotWrite = 23
    case cannotRead = 26
    case timedOut = 28
    /// The server sent neither the requested range nor 416.
    case rangeNotHonoured = 33
    case handshakeFailed = 35
    case badArgument = 43
    /// The value of `--interface` is neither an interface nor an address.
    case badInterface = 45
    case tooManyRedirects = 47
    /// A malformed value of `--resolve` or `--connect-to`.
    case badPlace = 49
    case nothingReceived = 52
    case cannotSend = 55
    case cannotReceive = 56
    /// The client certificate is unusable, missing or refused.
    case clientCertificate = 58
    case serverNotTrusted = 60
    case contentNotDecoded = 61
    case tooLarge = 63
    case bodyCannotBeSentAgain = 65
    /// `--disallow-username-in-url`
    case userRefused = 67
    case authoritiesUnusable = 77
    case pinMismatch = 90
    case notAnImage = 91
    /// A SOCKS proxy refused the connection, or user and password.
    case refusedByProxy = 97

    /// The negative answer of lint and verify-chain.
    static let no = ExitCode.unsupported

    /// The text in the help.
    var meaning: String {
        switch self {
        case .done: "done"
        case .unsupported: "no such scheme, no HTTP/1.x, or no event stream; of lint and verify-chain: no"
        case .usage: "bad command line; of lint and verify-chain: a file cannot be read"
        case .malformedURL: "malformed URL"
        case .proxyNotResolved: "proxy not found"
        case .nameNotResolved: "host not found"
        case .cannotConnect: "cannot connect; of reach --once: there is no way; of serve: the port is taken"
        case .headNotUnderstood: "head of the response not understood"
        case .otherProtocolError: "something else"
        case .truncated: "body is cut short"
        case .statusRefused: "status 400 or above, with --fail; of images: with any"
        case .cannotWrite: "cannot write"
        case .cannotRead: "cannot read what is to be sent"
        case .timedOut: "timed out"
        case .rangeNotHonoured: "the download does not go on there"
        case .handshakeFailed: "TLS handshake failed"
        case .badArgument: "bad value of an option"
        case .badInterface: "--interface is none"
        case .tooManyRedirects: "too many redirects"
        case .badPlace: "--resolve or --connect-to not understood"
        case .nothingReceived: "connection closed without a byte"
        case .cannotSend: "cannot send"
        case .cannotReceive: "cannot receive"
        case .clientCertificate: "our certificate: unusable, wanted or refused"
        case .serverNotTrusted: "the server's certificate is not trusted"
        case .contentNotDecoded: "the body's coding cannot be undone"
        case .tooLarge: "larger than --max-filesize"
        case .bodyCannotBeSentAgain: "the body cannot be sent again"
        case .userRefused: "a user in the URL, with --disallow-username-in-url"
        case .authoritiesUnusable: "no usable authorities"
        case .pinMismatch: "no pin matches"
        case .notAnImage: "not a picture that can be shown"
        case .refusedByProxy: "the SOCKS proxy refused"
        }
    }
}

/// The rule names with which afnet refuses a server that lacks a pin. No other evaluator uses these names.
enum PinRule: String {
    case key = "afnet --pin"
    case certificate = "afnet --pinned-cert"
    case policy = "afnet --policy"
}
