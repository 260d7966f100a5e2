import AFTransport
import AFWire
import Foundation

/// Schemes that need no network, and no class of the program.
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

/// Why a `data:` URL or a file was not loaded.
enum LocalFailure: Error, Hashable, Sendable {
    /// There is nobody to send a body to.
    case upload
    /// It means nothing there.
    case method
    case data(DataURL.Flaw)
    case path(FilePath.Flaw)
    case file(FileFailure)
    /// It could not be read on.
    case unreadable
}
