package import AFTransport

/// Why the session did not load a `data:` URL or a file.
package enum LocalFailure: Error, Hashable, Sendable {
    /// The request has a body, and there is no server to send it to.
    case upload
    /// The method has no meaning for this scheme.
    case method
    case data(DataURL.Flaw)
    case path(FilePath.Flaw)
    case file(FileFailure)
    /// Reading the file failed.
    case unreadable
}
