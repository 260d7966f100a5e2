import AFTransport
import AFWire
import Foundation

/// Schemes that the session loads without a network and without a URL protocol class.
enum LocalScheme: Sendable {
    case data
    case file

    init?(_ url: URL) {
        let scheme: LocalScheme? = url.absoluteString.withUTF8Bytes { bytes in
            let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(5))
            if ByteScanning.equalsIgnoringCase(start, "data:") { return .data }
            return ByteScanning.equalsIgnoringCase(start, "file:") ? .file : nil
        }
        guard let scheme else { return nil }
        self = scheme
    }
}

/// Why the session did not load a `data:` URL or a file.
enum LocalFailure: Error, Hashable, Sendable {
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
