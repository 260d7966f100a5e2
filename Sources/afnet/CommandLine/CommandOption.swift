/// The options, by their long names.
enum CommandOption: String, CaseIterable {
    case data
    case dataFile = "data-file"
    case fail
    case head
    case header
    case help
    case include
    case maxFilesize = "max-filesize"
    case maxTime = "max-time"
    case output
    case request
    case showError = "show-error"
    case silent
    case unixSocket = "unix-socket"
    case verbose
    case version

    var letter: Character? {
        switch self {
        case .data: "d"
        case .fail: "f"
        case .head: "I"
        case .header: "H"
        case .help: "h"
        case .include: "i"
        case .maxTime: "m"
        case .output: "o"
        case .request: "X"
        case .showError: "S"
        case .silent: "s"
        case .verbose: "v"
        case .version: "V"
        case .dataFile, .maxFilesize, .unixSocket: nil
        }
    }

    /// The next argument, or the rest of a group of letters, belongs to it.
    var takesValue: Bool {
        switch self {
        case .data, .dataFile, .header, .maxFilesize, .maxTime, .output, .request, .unixSocket: true
        case .fail, .head, .help, .include, .showError, .silent, .verbose, .version: false
        }
    }

    init?(letter: Character) {
        guard let option = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = option
    }
}
