package import AFLoop
import AFWire

/// A public suffix list that could not be used.
public struct PublicSuffixFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        case notAFileURL
        case open(SystemCallError)
        case notRegular
        case tooLong
        case read(SystemCallError)
        /// It has neither format of the list, or is cut off.
        case malformed
    }

    /// The path of the list.
    public let path: String
    package let fault: Fault

    package init(path: String, fault: Fault) {
        self.path = path
        self.fault = fault
    }

    /// The path of the list, and the error.
    public var description: String {
        let what =
            switch fault {
            case .notAFileURL: "the URL names no file; make it with URL(fileURLWithPath:)"
            case .open(let error), .read(let error): error.description
            case .notRegular: "it is no regular file"
            case .tooLong: "it is longer than 16 MiB"
            case .malformed: "it holds no complete list; get one from https://publicsuffix.org/list"
            }
        return "reading the public suffix list \(PeerText.escaped(path.utf8)) failed: \(what)"
    }
}
