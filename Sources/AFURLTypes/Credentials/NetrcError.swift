import AFState
import AFWire
public import Foundation

/// Why a file of passwords is not used.
public struct NetrcError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        case notAFile
        case unreadable(String)
        case openToOthers
        case tooLarge
        case malformed(line: Int)
    }

    package let fault: Fault
    /// Where the file is, if it is one.
    public let path: String?

    package init(_ fault: Fault, at path: String?) {
        self.fault = fault
        self.path = path
    }

    /// The line that is not understood, from 1.
    public var line: Int? {
        if case .malformed(let line) = fault { line } else { nil }
    }

    /// What is wrong, and what to do. It contains nothing of the file's content.
    public var description: String {
        let file = path.map { "the netrc file \(PeerText.escaped($0.utf8))" } ?? "the netrc text"
        switch fault {
        case .notAFile: return "\(file) is not a regular file; name one by a file URL"
        case .unreadable(let cause): return "\(file) cannot be read: \(cause)"
        case .openToOthers: return "\(file) is not yours alone; set its owner, and its permissions to 0600"
        case .tooLarge: return "\(file) is larger than 1 MiB; this cannot be a list of passwords"
        case .malformed(let line): return "\(file) is not understood in line \(line); correct that line"
        }
    }
}

extension NetrcError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
