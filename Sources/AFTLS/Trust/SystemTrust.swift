internal import CAFOpenSSL

/// The system's authorities: loaded once, then shared by everyone and never again read.
package final class SystemTrust: Sendable {
    /// The one of this process.
    package static let shared = SystemTrust(paths: SystemTrustPaths())

    /// Where they come from.
    package let paths: SystemTrustPaths
    private let loaded = Lock<Loaded?>(nil)

    private struct Loaded: Sendable {
        let store: TrustStore
        let certificates: [Certificate]
    }

    package init(paths: SystemTrustPaths) {
        self.paths = paths
    }

    /// Whether `store()` answers at once.
    package var isLoaded: Bool { loaded.withLock { $0 != nil } }

    /// Reads the files if nobody did; a failure is not kept, so that the next call tries again.
    package func store() throws(TrustAnchorsError) -> TrustStore {
        try load().store
    }

    func certificates() throws(TrustAnchorsError) -> [Certificate] {
        try load().certificates
    }

    private func load() throws(TrustAnchorsError) -> Loaded {
        try loaded.withLock { (loaded: inout Loaded?) throws(TrustAnchorsError) -> Loaded in
            if let loaded { return loaded }
            let certificates = try read()
            let new = Loaded(store: try TrustStore(certificates), certificates: certificates)
            loaded = new
            return new
        }
    }

    // A folder is only read if it was named or the file gives nothing: both usually hold the same, and
    // looking certificates up in it later would read files in the middle of a handshake.
    private func read() throws(TrustAnchorsError) -> [Certificate] {
        var found: [Certificate] = []
        var problem = "it holds no certificate"
        do {
            found = Self.certificates(in: try FileReader.bytes(atPath: paths.file))
        } catch {
            problem = error.message
        }
        if found.isEmpty, paths.namesFile { throw error("SSL_CERT_FILE names it, but \(problem)") }
        if found.isEmpty || paths.namesFolder { found += hashedFiles() }
        guard !found.isEmpty else { throw error(problem) }
        return found
    }

    private func hashedFiles() -> [Certificate] {
        var found: [Certificate] = []
        for folder in paths.folder.split(separator: ":") {
            guard let names = try? FileReader.names(inFolder: String(folder)) else { continue }
            for name in names where Self.isHashed(name) {
                guard let bytes = try? FileReader.bytes(atPath: "\(folder)/\(name)") else { continue }
                found += Self.certificates(in: bytes)
            }
        }
        return found
    }

    // As c_rehash names them: eight hexadecimal digits, a dot, a number.
    private static func isHashed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count > 9 && bytes[8] == UInt8(ascii: ".") && bytes[9...].allSatisfy(ASCII.isDigit)
            && bytes[..<8].allSatisfy { ASCII.isDigit($0) || ASCII.folded($0) &- 0x61 < 6 }
    }

    // One bad certificate of a system's must not lose the others.
    private static func certificates(in bytes: [UInt8]) -> [Certificate] {
        PEMBlock.split(bytes).compactMap { block in
            guard let content = block.content() else { return nil }
            switch content.label {
            case "CERTIFICATE", "X509 CERTIFICATE": return parse(content.der, caf_x509_parse_leniently)
            case "TRUSTED CERTIFICATE": return parse(content.der, caf_x509_parse_with_uses)
            default: return nil
            }
        }
    }

    private static func parse(
        _ der: [UInt8],
        _ decode: (UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) -> Certificate? {
        decode(der, der.count).map(Certificate.init(owning:))
    }

    private func error(_ problem: String) -> TrustAnchorsError {
        TrustAnchorsError(
            message: "no trusted authorities of the system: \(ByteText.escaped(paths.file, limit: 1024)): \(problem); "
                + "\(ByteText.escaped(paths.folder, limit: 1024)): no certificate files named by hash. "
                + "Install ca-certificates, set SSL_CERT_FILE, or give the session anchors of its own"
        )
    }
}
