import AFBase

/// The authorities a chain may end at.
///
/// Custom anchors replace those of the system. Two values are equal when they hold
/// the same certificates, wherever they came from; their order is of no importance.
public struct TrustAnchors: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    private let storage: Storage

    /// The authorities of the system: OpenSSL's default file and folder.
    ///
    /// The environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them, except in a
    /// program that runs with more rights than its user. Loaded once, at first use.
    public static let system = TrustAnchors(storage: Storage(.system))

    /// Exactly these certificates. An empty list trusts no server.
    public static func certificates(_ certificates: [Certificate]) -> TrustAnchors {
        TrustAnchors(storage: Storage(.custom(certificates)))
    }

    /// The certificates of a PEM text, or one in DER.
    public static func pem(_ bytes: some Collection<UInt8>) throws(CertificateError) -> TrustAnchors {
        .certificates(try Certificate.certificates(in: bytes))
    }

    /// The certificates of a file, PEM or one in DER.
    public static func file(_ path: String) throws(CertificateError) -> TrustAnchors {
        .certificates(try Certificate.certificates(atPath: path))
    }

    /// The certificates of the files in a folder that end in `.cer`, `.der`, `.pem` or `.crt`.
    public static func folder(_ path: String) throws(CertificateError) -> TrustAnchors {
        .certificates(try Certificate.certificates(inFolder: path))
    }

    /// These anchors and more.
    public func adding(_ certificates: [Certificate]) -> TrustAnchors {
        switch storage.content {
        case .system: TrustAnchors(storage: Storage(.systemAnd(certificates)))
        case .custom(let own): .certificates(own + certificates)
        case .systemAnd(let own): TrustAnchors(storage: Storage(.systemAnd(own + certificates)))
        }
    }

    /// What they are, in a few words.
    public var description: String {
        switch storage.content {
        case .system: "the system's authorities"
        case .custom(let own): "\(own.count) own \(own.count == 1 ? "authority" : "authorities")"
        case .systemAnd(let own): "the system's authorities and \(own.count) more"
        }
    }

    /// The description alone: there are more than a hundred certificates in a system.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// The certificates that the program named itself, beside those of the system.
    var named: [Certificate] {
        switch storage.content {
        case .system: []
        case .custom(let own), .systemAnd(let own): own
        }
    }

    /// Equal for equal anchors only: a digest of their content.
    package var fingerprint: [UInt8] { storage.fingerprint }

    /// The store of these anchors, made once.
    ///
    /// The first use of the system's reads files: not for the network thread.
    package func store() throws(TrustAnchorsError) -> TrustStore { try storage.store() }

    /// Whether `store()` answers at once.
    package var isLoaded: Bool { storage.isLoaded }

    /// Whether the content is the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.fingerprint == right.fingerprint
    }

    /// Feeds the digest of the content.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
    }
}

extension TrustAnchors {
    fileprivate enum Content: Sendable {
        case system
        case custom([Certificate])
        case systemAnd([Certificate])
    }

    /// The content, and what is made of it at first use.
    fileprivate final class Storage: Sendable {
        let content: Content
        private let digest = Lock<[UInt8]?>(nil)
        private let made = Lock<TrustStore?>(nil)

        init(_ content: Content) {
            self.content = content
        }

        /// Made when it is first asked for: a program that only speaks http shall not wait for OpenSSL to set itself
        /// up.
        var fingerprint: [UInt8] {
            digest.withLock { digest in
                if let digest { return digest }
                let new = Self.fingerprint(of: content)
                digest = new
                return new
            }
        }

        var isLoaded: Bool {
            switch content {
            case .custom: true
            case .system, .systemAnd: SystemTrust.shared.isLoaded
            }
        }

        func store() throws(TrustAnchorsError) -> TrustStore {
            if case .system = content { return try SystemTrust.shared.store() }
            return try made.withLock { (store: inout TrustStore?) throws(TrustAnchorsError) -> TrustStore in
                if let store { return store }
                let new = try makeStore()
                store = new
                return new
            }
        }

        private func makeStore() throws(TrustAnchorsError) -> TrustStore {
            switch content {
            case .system: try SystemTrust.shared.store()
            case .custom(let certificates): try TrustStore(certificates)
            case .systemAnd(let certificates): try SystemTrust.shared.store(adding: certificates)
            }
        }

        private static func fingerprint(of content: Content) -> [UInt8] {
            switch content {
            case .system: digest(of: [], tag: systemTag)
            case .custom(let certificates): digest(of: certificates, tag: Array("anchors".utf8))
            case .systemAnd(let certificates) where certificates.isEmpty: digest(of: [], tag: systemTag)
            case .systemAnd(let certificates): digest(of: certificates, tag: systemTag)
            }
        }

        private static var systemTag: [UInt8] {
            let paths = SystemTrust.shared.paths
            return Array("system\0\(paths.file)\0\(paths.folder)".utf8)
        }

        // Of sorted digests of fixed length, so that neither order nor repetition nor borders matter.
        private static func digest(of certificates: [Certificate], tag: [UInt8]) -> [UInt8] {
            let sorted = Set(certificates.map(\.fingerprint)).sorted { $0.lexicographicallyPrecedes($1) }
            return SHA256Digest.of(SHA256Digest.of(tag) + sorted.joined())
        }
    }
}
