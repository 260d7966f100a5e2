public import AFTLS
public import Foundation

/// How a session secures its connections: whom it trusts, how it identifies itself, which protocol it speaks.
///
/// ```swift
/// var tls = TLSConfiguration()
/// tls.anchors = try .file("/etc/my-company/root.pem")
/// configuration.tls = tls
/// ```
///
/// The session does not check revocation: neither lists nor OCSP, stapled or not. Use short-lived certificates, and
/// pins, against a stolen key.
///
/// A value; sessions copy it. Requests share connections, and the TLS sessions that make later handshakes short, only
/// if all of it was the same for them.
public struct TLSConfiguration: Sendable {
    /// The authorities whose servers are trusted. Custom ones replace the system's.
    public var anchors = TrustAnchors.system

    /// Decides in place of the standard evaluation. Nil: a server is trusted if its
    /// chain leads to an anchor, is valid now, and names the host of the URL.
    public var evaluator: (any ServerEvaluator)?

    /// The session shows it to servers that ask for a certificate, if the identity's own list of hosts allows it.
    public var identity: ClientIdentity?

    /// The oldest version that the session speaks. TLS 1.2.
    public var minimumVersion = TLSVersion.v1_2
    /// The newest version that the session speaks. TLS 1.3. Never older than the minimum.
    public var maximumVersion = TLSVersion.v1_3

    /// How weak keys, digests and key exchanges may be, as OpenSSL's security level
    /// from 0 to 5. 2, which asks for 112 bits: RSA of 2048 bits, no SHA-1.
    public var securityLevel = ServerTrust.usualSecurityLevel

    /// TLS 1.2 cipher suites in OpenSSL's notation. Nil, the default, offers suites
    /// with forward secrecy and authenticated encryption. A list that OpenSSL does
    /// not understand fails the tasks. TLS 1.3 has only suites of that kind.
    public var ciphers: String?

    /// Whether the session resumes TLS sessions, which makes the next handshake with a server short. True. It never
    /// does for a server that was accepted by a delegate, or by an evaluator without a fingerprint, or against the
    /// standard evaluation.
    public var resumesSessions = true

    /// Whether a body that only the end of the connection ends may end without the peer's `close_notify`. False: an
    /// attacker on the way could have cut it short.
    public var toleratesMissingCloseNotify = false

    /// How long a delegate may take to answer a challenge of the handshake, in seconds. Then the session takes the
    /// answer for a no. 10; not positive means 10.
    public var decisionTimeout: TimeInterval = 10

    /// The standard settings: the system's authorities, TLS 1.2 and 1.3.
    public init() {}
}

/// A configuration behind a reference, for a value that seldom has one: to copy it costs as much as to copy a reference.
package final class HeldTLSConfiguration: Sendable {
    package let configuration: TLSConfiguration

    package init(_ configuration: TLSConfiguration) {
        self.configuration = configuration
    }
}

extension TLSConfiguration {
    package var parameters: TLSParameters {
        var parameters = TLSParameters()
        parameters.versions = minimumVersion...max(minimumVersion, maximumVersion)
        parameters.securityLevel = min(max(securityLevel, 0), 5)
        parameters.ciphers = ciphers
        parameters.resumes = resumesSessions
        return parameters
    }

    /// Has every field in it: in a running session, a change of a field that is not in here has no effect.
    ///
    /// - Parameter unnamed: Stands for an evaluator without a fingerprint.
    package func fingerprint(_ evaluator: (any ServerEvaluator)?, unnamed: Int) -> [UInt8] {
        var text = TrustFingerprint("AFURLSession.TLSConfiguration")
        text.add(anchors.fingerprint)
        switch (evaluator, evaluator?.fingerprint) {
        case (nil, _): text.add([0])
        case (.some(let evaluator), let known?):
            text.add([1] + known)
            // Evaluators of two types may have the same bytes, and decide by other rules.
            text.add((_mangledTypeName(type(of: evaluator)) ?? "").utf8)
        case (.some, nil): text.add([2] + String(unnamed).utf8)
        }
        text.add(identity.map { [1] + $0.fingerprint } ?? [0])
        text.add(Array("\(minimumVersion.rawValue) \(maximumVersion.rawValue) \(securityLevel)".utf8))
        text.add(ciphers.map { [1] + $0.utf8 } ?? [0])
        text.add([resumesSessions ? 1 : 0, toleratesMissingCloseNotify ? 1 : 0])
        text.add(withUnsafeBytes(of: decisionTimeout.bitPattern.littleEndian) { Array($0) })
        return text.bytes
    }
}
