package import AFTransport
package import AFURLTypes

/// Why a download in parts cannot go on, beside what its requests report.
package enum PartsFailure: Error, Sendable, Hashable {
    /// The path is that of the file that was asked for.
    case file(FileFailure)
    /// Another download writes the file at this path.
    case inUse(path: String)
    /// A file that no download in parts has made is in the way.
    case taken(path: String)
    /// The server had another file each time.
    case changing(times: Int)
    case digest(expected: FileDigest, found: FileDigest?)
}
