internal import CAFOpenSSL

/// What we show to a server that asks who we are: certificates, and the private key of the first one.
///
/// ```swift
/// var identity = try ClientIdentity(
///     certificatePath: "/etc/my-service/client.pem",
///     keyPath: "/etc/my-service/client.key",
///     passphrase: passphrase
/// )
/// identity.hosts = ["*.internal.example.com"]
/// ```
///
/// Everything is checked when it is made: the key can be opened, belongs to the first
/// certificate, and signs. Nothing ever asks for a passphrase on a terminal. Descriptions
/// and dumps show the subject and the digest of the first certificate and nothing else.
public struct ClientIdentity: Sendable {
    private var storage: Storage
    private var names: [String]?
    private var patterns: [HostPattern]?

    /// The hosts it may be shown to, as patterns (see ``HostPattern``). Nil, as it is at first: every host of the
    /// session. A text that is no pattern matches no host; an empty list matches none either.
    public var hosts: [String]? {
        get { names }
        // No observer: those stay silent while an initializer in a program's extension runs.
        set {
            names = newValue
            patterns = newValue.map { $0.compactMap { text in try? HostPattern(text) } }
        }
    }

    /// The certificates, the one of the key first.
    public var certificates: [Certificate] { storage.certificates }

    /// The `EVP_PKEY`, alive as long as this value.
    package var key: OpaquePointer { storage.key.handle }

    /// Equal for identities that show the same to the same hosts.
    ///
    /// The hosts are part of it: a caller who narrows them wants no connection that was made with the wider list to be
    /// used again.
    package var fingerprint: [UInt8] {
        let names = patterns.map { Set($0.map(\.description)).sorted() }
        let list = names.map { "hosts\0" + $0.joined(separator: "\0") } ?? "every host"
        return SHA256Digest.of(storage.digest + SHA256Digest.of(Array(list.utf8)))
    }

    package func mayBeShown(to host: PeerName) -> Bool {
        guard let patterns else { return true }
        return patterns.contains { $0.matches(host) }
    }

    /// Checks that certificates and key belong together.
    init(
        certificates: [Certificate],
        key: PrivateKey,
        input: ClientIdentityError.Input
    ) throws(ClientIdentityError) {
        guard let leaf = certificates.first else {
            throw ClientIdentityError(
                .noCertificate,
                input: input,
                message: "there is no certificate; add the one of the key"
            )
        }
        guard key.belongs(to: leaf) else { throw Self.mismatch(certificates, key: key, input: input) }
        guard key.works(for: leaf) else {
            throw ClientIdentityError(
                .unusableKey,
                input: input,
                message: "the private key belongs to the certificate, but what it signs does not verify; "
                    + "it is damaged or of a kind that cannot sign; export it again"
            )
        }
        storage = Storage(certificates: certificates, key: key)
    }

    /// The same identity with other authorities after its own certificate.
    package func followed(by authorities: [Certificate]) -> ClientIdentity {
        let own = certificates.prefix(1)
        var copy = self
        copy.storage = Storage(certificates: own + authorities.filter { !own.contains($0) }, key: storage.key)
        return copy
    }

    private static func mismatch(
        _ certificates: [Certificate],
        key: PrivateKey,
        input: ClientIdentityError.Input
    ) -> ClientIdentityError {
        guard let owner = certificates.firstIndex(where: { key.belongs(to: $0) }) else {
            let only = certificates.count == 1 ? "the certificate" : "any of the \(certificates.count) certificates"
            return ClientIdentityError(
                .keyMismatch,
                input: input,
                message: "the private key does not belong to \(only); give the key that the certificate was made for"
            )
        }
        return ClientIdentityError(
            .keyMismatch,
            input: input,
            message: "the private key belongs to certificate \(owner + 1) of \(certificates.count), not to the first; "
                + "put that one first and its authorities after it"
        )
    }

    private final class Storage: Sendable {
        let certificates: [Certificate]
        let key: PrivateKey
        let digest: [UInt8]

        init(certificates: [Certificate], key: PrivateKey) {
            self.certificates = certificates
            self.key = key
            let leaf = certificates.first.map { SHA256Digest.of($0.publicKeyBytes) } ?? []
            digest = SHA256Digest.of(leaf + certificates.flatMap(\.fingerprint))
        }
    }
}

extension ClientIdentity: Hashable {
    /// Whether they show the same to the same hosts.
    public static func == (left: Self, right: Self) -> Bool {
        left.storage.digest == right.storage.digest && left.hosts == right.hosts
    }

    /// Feeds the digest of certificates and key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.digest)
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Subject and digest of the first certificate. Nothing of the key.
    public var description: String { "client identity \"\(certificates.first?.subject ?? "")\", SHA-256 \(digestText)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// What `dump` shows: subject, digest and hosts.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["subject": certificates.first?.subject ?? "", "sha256": digestText, "hosts": hosts as Any],
            displayStyle: .struct
        )
    }

    private var digestText: String { ByteText.hex(certificates.first?.fingerprint ?? []) }
}
