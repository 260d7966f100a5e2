extension ExitCode {
    /// For the help.
    var meaning: String {
        switch self {
        case .done: "done"
        case .unsupported: "no such scheme, or no HTTP/1.x; of lint and verify-chain: no"
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
        case .authoritiesUnusable: "no usable authorities"
        case .pinMismatch: "no pin matches"
        case .notAnImage: "not a picture that can be shown"
        }
    }
}
