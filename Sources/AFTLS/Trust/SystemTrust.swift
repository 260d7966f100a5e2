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
        var found = Found()
        var problem = "it holds no certificate"
        do {
            found.add(try FileReader.bytes(atPath: paths.file))
        } catch {
            problem = error.message
        }
        if found.certificates.isEmpty, paths.namesFile { throw error("SSL_CERT_FILE names it, but \(problem)") }
        if found.certificates.isEmpty || paths.namesFolder { addHashedFiles(to: &found) }
        guard !found.certificates.isEmpty else { throw error(problem) }
        return found.certificates
    }

    private func addHashedFiles(to found: inout Found) {
        for folder in paths.folder.split(separator: ":") {
            guard let names = try? FileReader.names(inFolder: String(folder)) else { continue }
            for name in names where Self.isHashed(name) {
                if let bytes = try? FileReader.bytes(atPath: "\(folder)/\(name)") { found.add(bytes) }
            }
        }
    }

    // As c_rehash names them: eight hexadecimal digits, a dot, a number.
    private static func isHashed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count > 9 && bytes[8] == UInt8(ascii: ".") && bytes[9...].allSatisfy(ASCII.isDigit)
            && bytes[..<8].allSatisfy { ASCII.isDigit($0) || ASCII.folded($0) &- 0x61 < 6 }
    }

    /// The certificates of several files, each once.
    private struct Found {
        var certificates: [Certificate] = []
        private var seen: Set<[UInt8]> = []

        // One bad certificate of a system's must not lose the others.
        mutating func add(_ text: [UInt8]) {
            for block in PEMBlock.split(text) {
                guard let content = block.content(), seen.insert(content.der).inserted else { continue }
                if let handle = Self.parse(content) { certificates.append(Certificate(owning: handle)) }
            }
        }

        private static func parse(_ content: PEMBlock.Content) -> OpaquePointer? {
            switch content.label {
            case "CERTIFICATE", "X509 CERTIFICATE": caf_x509_parse_leniently(content.der, content.der.count)
            case "TRUSTED CERTIFICATE": caf_x509_parse_with_uses(content.der, content.der.count)
            default: nil
            }
        }
    }

    private func error(_ problem: String) -> TrustAnchorsError {
        TrustAnchorsError(
            message: "no trusted authorities of the system: \(ByteText.escaped(paths.file, limit: 1024)): \(problem); "
                + "\(ByteText.escaped(paths.folder, limit: 1024)): no certificate files named by hash. "
                + "Install ca-certificates, set SSL_CERT_FILE, or give the session anchors of its own"
        )
    }
}
