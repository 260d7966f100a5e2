/// The options, by their long names.
enum CommandOption: String, CaseIterable {
    case cacert
    case cert
    case certPassFile = "cert-pass-file"
    case data
    case dataFile = "data-file"
    case fail
    case head
    case header
    case help
    case include
    case insecure
    case key
    case maxFilesize = "max-filesize"
    case maxTime = "max-time"
    case output
    case pin
    case pinnedCert = "pinned-cert"
    case request
    case showError = "show-error"
    case silent
    case unixSocket = "unix-socket"
    case verbose
    case version

    var letter: Character? {
        switch self {
        case .cert: "E"
        case .data: "d"
        case .fail: "f"
        case .head: "I"
        case .header: "H"
        case .help: "h"
        case .include: "i"
        case .insecure: "k"
        case .maxTime: "m"
        case .output: "o"
        case .request: "X"
        case .showError: "S"
        case .silent: "s"
        case .verbose: "v"
        case .version: "V"
        case .cacert, .certPassFile, .dataFile, .key, .maxFilesize, .pin, .pinnedCert, .unixSocket: nil
        }
    }

    /// The next argument, or the rest of a group of letters, belongs to it.
    var takesValue: Bool {
        switch self {
        case .cacert, .cert, .certPassFile, .data, .dataFile, .header, .key, .maxFilesize, .maxTime, .output, .pin,
            .pinnedCert, .request, .unixSocket:
            true
        case .fail, .head, .help, .include, .insecure, .showError, .silent, .verbose, .version: false
        }
    }

    /// curl's names for options of ours.
    private static let otherNames = ["pinnedpubkey": CommandOption.pin]

    init?(name: String) {
        guard let option = Self(rawValue: name) ?? Self.otherNames[name] else { return nil }
        self = option
    }

    init?(letter: Character) {
        guard let option = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = option
    }
}
