// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFBase
public import AFTLS
import AFURLTypes
public import Dispatch
public import Foundation

/// A server's certificates and the settings to judge them by, under its name in the Security framework.
///
/// The functions here do what those of that framework do. They keep what they set beside the value, shared by its
/// copies, and only they read it: the session's own decision and any ``/AFTLS/ServerEvaluator`` do not see it.
public typealias SecTrust = ServerTrust

// MARK: - Making and changing

/// Makes a trust from certificates of your own.
///
/// - Parameters:
///   - certificates: A certificate, or an array of them with the server's own first.
///   - policies: A policy, an array of policies, or nil.
///   - trust: Set to the result.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    let chain = (certificates as? [SecCertificate]) ?? (certificates as? SecCertificate).map { [$0] } ?? []
    guard !chain.isEmpty else { return errSecParam }
    let made = ServerTrust(servedChain: chain, host: "")
    // No policy has named the host yet.
    let status = SecTrustSetPolicies(made, policies ?? SecPolicyCreateBasicX509())
    guard status == errSecSuccess else { return status }
    trust.pointee = made
    return errSecSuccess
}

/// Sets what the evaluation checks: a policy, or an array of them, all of which must be met.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    let policies = (policies as? [SecPolicy]) ?? (policies as? SecPolicy).map { [$0] } ?? []
    guard !policies.isEmpty else { return errSecParam }
    trust.change { $0.policies = policies }
    return errSecSuccess
}

/// Sets the authorities, in place of the session's unless ``SecTrustSetAnchorCertificatesOnly(_:_:)`` says that they
/// come in addition.
///
/// Nil stands for the session's authorities; with an empty array no server is trusted.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    let anchors = anchorCertificates as? [SecCertificate]
    guard anchorCertificates == nil || anchors != nil else { return errSecParam }
    trust.change {
        $0.anchors = anchors
        $0.isAnchorsOnly = anchors != nil
    }
    return errSecSuccess
}

/// Sets whether the anchors are the only authorities. Once you have set anchors they are, until this says otherwise.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.isAnchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// Sets the moment at which certificates must be valid.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    guard let moment = Int64(exactly: verifyDate.timeIntervalSince1970.rounded(.down)) else { return errSecParam }
    trust.change { $0.moment = moment }
    return errSecSuccess
}

// MARK: - Evaluating

/// Whether the settings trust the server. If not, `error` says why.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    guard let failure = trust.judge().failure else {
        error?.pointee = nil
        return true
    }
    error?.pointee = NSError(failure)
    return false
}

/// The same, with the result on a queue.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust,
    _ queue: DispatchQueue,
    _ result: @escaping @Sendable (SecTrust, Bool, CFError?) -> Void
) -> OSStatus {
    queue.async {
        let failure = trust.judge().failure
        result(trust, failure == nil, failure.map { NSError($0) })
    }
    return errSecSuccess
}

/// Whether the settings trust the server, in the form of before 2018: `unspecified` and `proceed` mean yes.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>?) -> OSStatus {
    _ = trust.judge()
    return result.map { SecTrustGetTrustResult(trust, $0) } ?? errSecSuccess
}

/// How the last evaluation ended.
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.withOverrides { $0.result }
    return errSecSuccess
}

// MARK: - The server's certificates

/// The certificates, the server's own first.
///
/// If the chain is not trusted, these are only the proven certificates: the server's own, and those above it as long as
/// each has signed the one below. Do not look for a pin among others: a server may send any certificate along.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    let chain = trust.provenChain
    return chain.isEmpty ? nil : chain
}

/// How many certificates ``SecTrustCopyCertificateChain(_:)`` has.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    trust.provenChain.count
}

/// One certificate of ``SecTrustCopyCertificateChain(_:)``; the server's own is number 0.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.provenChain
    return chain.indices.contains(index) ? chain[index] : nil
}

/// The server's public key.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.servedChain.first.map { SecKey(of: $0) }
}

/// The server's public key, under the name of before 2020.
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? {
    SecTrustCopyKey(trust)
}

// MARK: -

extension ServerTrust {
    fileprivate func withOverrides<Result>(_ body: (inout TrustOverrides) -> Result) -> Result {
        overrides.withLock { kept in
            var overrides = kept as? TrustOverrides ?? TrustOverrides()
            defer { kept = overrides }
            return body(&overrides)
        }
    }

    fileprivate func change(_ body: (inout TrustOverrides) -> Void) {
        withOverrides { overrides in
            body(&overrides)
            overrides.result = .invalid
        }
    }

    fileprivate func judge() -> TrustEvaluation {
        let evaluation = withOverrides { $0 }.evaluate(self)
        withOverrides { $0.result = SecTrustResultType(evaluation) }
        return evaluation
    }

    /// Reading the chain is no evaluation: the result of the last one stays.
    fileprivate var provenChain: [Certificate] {
        servedChain.isEmpty ? [] : withOverrides { $0 }.evaluate(self).verifiedChain
    }
}

/// A certificate, under its name in the Security framework.
public typealias SecCertificate = Certificate

/// Reads a certificate in DER; nil if the bytes are none.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? Certificate(der: data)
}

/// The bytes of a certificate, in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    CFData(certificate.derBytes)
}

/// A name to show to people.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.summary
}

/// The public key of a certificate.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    SecKey(of: certificate)
}

/// The settings that the functions of this module keep about a server. They are beside the value itself, which does not
/// change, and only these functions read them.
struct TrustOverrides: ServerTrustOverrides {
    /// Nil: the standard evaluation.
    var policies: [SecPolicy]?
    var anchors: [Certificate]?
    /// Whether these anchors, or none, replace those of the session.
    var isAnchorsOnly = false
    var moment: Int64?
    var result = SecTrustResultType.invalid

    /// The evaluation of the chain by these settings.
    func evaluate(_ trust: ServerTrust) -> TrustEvaluation {
        let trust = moment.map { trust.standing(at: $0) } ?? trust
        guard policies != nil || anchors != nil || isAnchorsOnly else { return trust.evaluation }
        var found: TrustEvaluation?
        for policy in policies ?? [SecPolicyCreateSSL(true, trust.host)] {
            let evaluation = evaluate(trust, policy: policy)
            guard evaluation.isTrusted else { return evaluation }
            found = evaluation
        }
        return found ?? trust.evaluation
    }

    private func evaluate(_ trust: ServerTrust, policy: SecPolicy) -> TrustEvaluation {
        switch policy.content {
        case .impossible(let host): return trust.refusal(for: host)
        case .revocation(let isRequired):
            let evaluation = evaluate(trust, policy: SecPolicyCreateBasicX509())
            return isRequired && evaluation.isTrusted ? revocationUnknown(trust) : evaluation
        case .policy(let policy):
            // An anchor need not be a root.
            return trust.evaluate(policy, anchors: anchors(of: trust), allowsPartialChain: anchors != nil)
        }
    }

    private func revocationUnknown(_ trust: ServerTrust) -> TrustEvaluation {
        ChainEvaluator.refusal(
            .revocation,
            message:
                "it must be known whether the certificate \"\(trust.servedChain.first?.subject ?? "")\" was revoked, and neither "
                + "lists nor OCSP are asked here; leave out kSecRevocationRequirePositiveResponse, or pin the key",
            served: trust.servedChain,
            about: trust.servedChain.first
        )
    }

    private func anchors(of trust: ServerTrust) -> TrustAnchors? {
        isAnchorsOnly ? .certificates(anchors ?? []) : anchors.map { trust.anchors.adding($0) }
    }
}
