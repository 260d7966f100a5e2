import AFBase
internal import CAFOpenSSL
internal import Glibc

/// The system's authorities: their files are read once, then shared by everyone.
package final class SystemTrust: Sendable {
    /// The one of this process.
    package static let shared = SystemTrust(paths: SystemTrustPaths())

    /// Where they come from.
    package let paths: SystemTrustPaths
    /// Held while files are read, which takes as long as the disk does.
    private let loading = Lock<Void>(())
    private let loaded = Lock<Loaded?>(nil)
    private let readFile: @Sendable (String) throws(CertificateError) -> [UInt8]

    private struct Loaded: Sendable {
        let store: TrustStore
        let roots: RootIndex
    }

    package convenience init(paths: SystemTrustPaths) {
        self.init(paths: paths) { path throws(CertificateError) in try FileReader.bytes(atPath: path) }
    }

    init(paths: SystemTrustPaths, readFile: @escaping @Sendable (String) throws(CertificateError) -> [UInt8]) {
        self.paths = paths
        self.readFile = readFile
    }

    /// Whether `store()` answers at once. This does not wait for a thread that reads the files.
    package var isLoaded: Bool { loaded.withLock { $0 != nil } }

    /// Reads the files if no call has read them yet; a failure is not kept, so that the next call tries again.
    package func store() throws(TrustAnchorsError) -> TrustStore { try load().store }

    /// A store of them and of these.
    package func store(adding certificates: [Certificate]) throws(TrustAnchorsError) -> TrustStore {
        try TrustStore(certificates, beside: load().roots)
    }

    private func load() throws(TrustAnchorsError) -> Loaded {
        if let loaded = loaded.withLock({ $0 }) { return loaded }
        return try loading.withLock { (_: inout Void) throws(TrustAnchorsError) -> Loaded in
            // Another thread may have read them while this one waited.
            if let loaded = loaded.withLock({ $0 }) { return loaded }
            let roots = try read()
            let new = Loaded(store: try TrustStore([], beside: roots), roots: roots)
            loaded.withLock { $0 = new }
            return new
        }
    }

    // A folder is only read if it was named or the file gives nothing: both usually hold the same, and
    // looking certificates up in it later would read files in the middle of a handshake. Nor could it
    // stand in for the file, which is what says who is trusted: Debian's folder holds more.
    private func read() throws(TrustAnchorsError) -> RootIndex {
        var roots = RootIndex()
        var problem = "it holds no certificate"
        do {
            roots.add(try readFile(paths.file))
        } catch {
            problem = error.message
        }
        if roots.isEmpty, paths.namesFile { throw error("SSL_CERT_FILE names it, but \(problem)") }
        if roots.isEmpty || paths.namesFolder { addHashedFiles(to: &roots) }
        guard !roots.isEmpty else { throw error(problem) }
        return roots
    }

    private func addHashedFiles(to roots: inout RootIndex) {
        for folder in paths.folder.utf8.split(separator: UInt8(ascii: ":")).map(Substring.init) {
            guard let names = try? FileReader.names(inFolder: String(folder)) else { continue }
            for name in names where Self.isHashed(name) {
                if let bytes = try? readFile("\(folder)/\(name)") { roots.add(bytes) }
            }
        }
    }

    // As c_rehash names them: eight hexadecimal digits, a dot, a number.
    private static func isHashed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count > 9 && bytes[8] == UInt8(ascii: ".") && bytes[9...].allSatisfy(ASCII.isDigit)
            && bytes[..<8].allSatisfy { ASCII.isDigit($0) || ASCII.folded($0) &- 0x61 < 6 }
    }

    private func error(_ problem: String) -> TrustAnchorsError {
        TrustAnchorsError(
            message: "no trusted authorities of the system: \(ByteText.escaped(paths.file, limit: 1024)): \(problem); "
                + "\(ByteText.escaped(paths.folder, limit: 1024)): no certificate files named by hash. "
                + "Install ca-certificates, set SSL_CERT_FILE, or set tls.anchors"
        )
    }
}
