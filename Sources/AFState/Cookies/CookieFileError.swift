package import AFLoop
import AFWire

/// An error of the file of an ``/AFURLSession/HTTPCookieStorage``.
///
/// The cookies in memory are not affected, and loading goes on.
public struct CookieFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Kind: Hashable, Sendable {
        /// The URL names no file.
        case notAFileURL
        /// The file or its folder could not be opened.
        case cannotOpen
        /// It is a folder, a FIFO, a device, or a symbolic link.
        case notRegular
        /// Other users may read or change it, or another user owns it.
        case notPrivate
        /// It is longer than any cookie file.
        case tooLong
        /// The disk failed.
        case cannotRead
        /// The file holds something else. It is left as it is, and nothing is written.
        case notACookieFile
        /// An unknown version of this library has written the file. It is left as it is.
        case otherVersion
        /// The file is incomplete or was changed. The store replaces it when it next stores cookies.
        case damaged
        /// The new file could not be written, for lack of space, permission or a working disk. The store tries again
        /// with the next change.
        case cannotWrite
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the file.
    public let path: String
    package let cause: SystemCallError?

    init(_ kind: Kind, at path: String, _ cause: SystemCallError? = nil) {
        self.kind = kind
        self.path = path
        self.cause = cause
    }

    /// Whether the store may replace the file all the same.
    var allowsWriting: Bool { kind == .damaged || kind == .cannotWrite }

    /// The operation and the file, what happened, and what to do.
    public var description: String {
        let doing = kind == .cannotWrite ? "writing" : "reading"
        let system = cause.map { " (\($0.description))" } ?? ""
        return "\(doing) the cookie file \(PeerText.escaped(path.utf8)) failed: \(explanation)\(system)"
    }

    private var explanation: String {
        switch kind {
        case .notAFileURL: "the URL names no file; make it with URL(fileURLWithPath:)"
        case .cannotOpen: "it or its folder cannot be opened; the folder must exist and be yours to enter and write"
        case .notRegular: "it is a link, a folder or a device; name a regular file, or one that does not exist yet"
        case .notPrivate: "others can get at it; make it yours alone with chmod 600 if you trust what is in it"
        case .tooLong: "it is longer than 16 MiB, so no cookie file"
        case .cannotRead: "the disk did not give it out"
        case .notACookieFile: "something else is in it, which is left alone; choose another place"
        case .otherVersion: "a newer version of this library has written it; it is left alone"
        case .damaged: "it is not whole; it is begun anew with the next cookie"
        case .cannotWrite: "it holds what it held before, or all that is new; make room or rights for it"
        }
    }
}
