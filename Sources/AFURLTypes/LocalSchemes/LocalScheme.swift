import AFWire
package import Foundation

/// Schemes that the session loads without a network and without a URL protocol class.
package enum LocalScheme: Sendable {
    case data
    case file

    package init?(_ url: URL) {
        let scheme: LocalScheme? = url.absoluteString.withUTF8Bytes { bytes in
            let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(5))
            if ByteScanning.equalsIgnoringCase(start, lowercase: "data:") { return .data }
            return ByteScanning.equalsIgnoringCase(start, lowercase: "file:") ? .file : nil
        }
        guard let scheme else { return nil }
        self = scheme
    }
}
