import AFLoop
import AFTLS
import AFTransport
package import AFWire

/// Turns failures of a handshake into load failures.
extension LoadFailure {
    package init(_ failure: HandshakeFailure, peer: Endpoint) {
        switch failure.cause {
        case .refused(let refusal):
            self.init(refusal, of: RefusedServer(host: peer.host.text, place: peer.text, trust: failure.trust))
        case .identityCancelled: self = .cancelled(phase: .tls)
        case .broken(let error): self = .connectionLost(phase: .tls, peer: peer, errno: error.code)
        case .tls(let cause):
            let identification: TransferError.Identification =
                failure.wasAskedForIdentity ? (failure.hasShownIdentity ? .shown : .withheld) : .notAsked
            self.init(cause, phase: .tls, identification: identification, trust: failure.trust, peer: peer)
        }
    }

    /// The server's certificates were not accepted.
    private init(_ refusal: TrustRefusal, of server: RefusedServer) {
        switch refusal {
        case .cancelled: self = .cancelled(phase: .tls)
        case .evaluation(let failure):
            // A certificate for another host is reported as such first, as Apple does, whatever else is wrong with it.
            let mismatch = failure.reason == .name ? nil : server.trust?.nameMismatch
            let reasons = mismatch == nil ? [failure.reason] : [.name, failure.reason]
            let explanation = mismatch.map { "\($0); besides, \(failure.message)" } ?? failure.message
            self.init(
                .trust,
                detail: Detail(reasons[0]),
                server: server,
                explanation: explanation,
                advice: LoadFailure.advice(reasons[0], failure: failure, host: server.host),
                reasons: reasons,
                verifyResult: failure.verifyResult
            )
        case .rule(let rule, let explanation):
            self.init(.trust, detail: .policy, server: server, explanation: explanation, rule: rule)
        case .rejected:
            self.init(.trust, detail: .delegate, server: server, explanation: "the delegate rejected the server")
        case .unanswered:
            let advice = "Answer the challenge sooner, or raise tls.decisionTimeout."
            self.init(
                .trust,
                detail: .delegate,
                server: server,
                explanation: "the delegate did not decide in time",
                advice: advice
            )
        case .noAnchors(let problem):
            self.init(.trust, detail: .anchors, server: server, explanation: problem)
        }
    }

    private struct RefusedServer {
        let host: String
        /// Host and port.
        let place: String
        let trust: ServerTrust?
    }

    private init(
        _ reason: Reason,
        detail: Detail,
        server: RefusedServer,
        explanation: String,
        advice: String? = nil,
        reasons: [TrustFailure.Reason] = [],
        rule: String? = nil,
        verifyResult: Int32? = nil
    ) {
        self.init(
            reason,
            detail: detail,
            phase: .tls,
            message: "The server at \(server.place) is not trusted: \(explanation). Nothing was sent to it.",
            advice: advice,
            security: Security(
                host: server.host,
                servedChain: server.trust?.servedChain ?? [],
                reasons: reasons,
                rule: rule,
                verifyResult: verifyResult
            )
        )
    }

    /// Why a policy refused the server of a challenge; nil if the policy accepted it.
    package init?(_ decision: ServerTrustDecision, trust: ServerTrust, port: Int) {
        guard let refusal = TrustRefusal(decision) else { return nil }
        let host = trust.host.contains(":") ? "[\(trust.host)]" : trust.host
        self.init(refusal, of: RefusedServer(host: trust.host, place: "\(host.asPeerText):\(port)", trust: trust))
    }

    /// The TLS protocol failed, in the handshake or later.
    package init(
        _ failure: TLSFailure,
        phase: Phase,
        identification: TransferError.Identification,
        trust: ServerTrust?,
        peer: Endpoint
    ) {
        var alert: UInt8?
        if case .alert(let number) = failure.kind { alert = number }
        let security = Security(host: peer.host.text, servedChain: trust?.servedChain ?? [], alert: alert)
        let (reason, detail) = LoadFailure.classify(failure.kind, identification: identification)
        let what = LoadFailure.explain(failure, reason: reason, detail: detail)
        let doing = phase == .tls ? "Securing the connection to" : "The secured connection to"
        self.init(
            reason,
            detail: detail,
            phase: phase,
            message: "\(doing) \(peer.text) failed: \(what).",
            advice: LoadFailure.advice(reason, detail: detail),
            security: security
        )
    }
}

// MARK: - Words

extension LoadFailure {
    private static func classify(
        _ kind: TLSFailure.Kind,
        identification: TransferError.Identification
    ) -> (Reason, Detail?) {
        switch kind {
        case .version: (.tls, .version)
        case .cipher: (.tls, .cipher)
        case .alpn: (.tls, .alpn)
        case .renegotiation: (.tls, .renegotiation)
        case .flood: (.tls, .flood)
        case .notTLS: (.tls, .notTLS)
        case .refused: (.trust, .chain)
        case .ended: (.lost, .reset)
        case .violation, .local: (.tls, nil)
        case .alert(let number): classify(alert: number, identification: identification)
        }
    }

    /// RFC 8446 §6. TLS 1.2 has no alert of its own for a missing certificate.
    private static func classify(
        alert: UInt8,
        identification: TransferError.Identification
    ) -> (Reason, Detail?) {
        switch (alert, identification) {
        case (116, _): (.clientCertificate, .required)
        case (40, .withheld): (.clientCertificate, .required)
        case (41...46, .shown), (48, .shown), (49, .shown), (51, .shown): (.clientCertificate, nil)
        case (70, _): (.tls, .version)
        case (120, _): (.tls, .alpn)
        default: (.tls, .alert)
        }
    }

    private static func explain(_ failure: TLSFailure, reason: Reason, detail: Detail?) -> String {
        switch (reason, detail) {
        case (.clientCertificate, .required):
            "the server asks for a certificate of ours (\(failure.detail))"
        case (.clientCertificate, _):
            "the server did not accept our certificate (\(failure.detail))"
        case (.tls, .notTLS):
            "what arrived is not TLS (\(failure.detail))"
        case (.tls, .version):
            "no version of TLS in common (\(failure.detail)). TLS 1.2 is the oldest that is spoken"
        case (.tls, .alert): "the server refused with the alert \"\(failure.detail)\""
        default: failure.detail
        }
    }

    private static func advice(_ reason: Reason, detail: Detail?) -> String? {
        switch (reason, detail) {
        case (.clientCertificate, .required): "Set tls.identity."
        case (.clientCertificate, _): "Check who issued it and its dates."
        case (.tls, .notTLS): "Does the server speak plain http on this port?"
        default: nil
        }
    }

    /// Names the certificate that is at fault: it need not be the server's own.
    private static func advice(_ reason: TrustFailure.Reason, failure: TrustFailure, host: String) -> String {
        if reason == .name { return "Use a host the certificate is for, or have one issued for \(host)." }
        guard let certificate = failure.certificate else { return "The server needs another certificate." }
        let subject = "\"\(certificate.subject)\""
        switch reason {
        case .unknownRoot:
            return "If \"\(certificate.issuer)\" is an authority of yours, add it to tls.anchors."
        case .selfSigned: return "If \(subject) is one of yours, add it to tls.anchors."
        case .incompleteChain: return "The server must send its intermediate certificates; ask its operator."
        case .expired, .notYetValid: return "Renew the certificate \(subject), or set the clock of this machine."
        case _ where failure.isForgivenIfNamed:
            return "If \(subject) is an authority of yours, add it to tls.anchors; "
                + "if not, the authority needs another certificate."
        case _ where failure.depth > 0: return "The authority \(subject) needs another certificate."
        default: return "The server needs another certificate in place of \(subject)."
        }
    }
}

extension LoadFailure.Detail {
    fileprivate init(_ reason: TrustFailure.Reason) {
        switch reason {
        case .unknownRoot, .incompleteChain: self = .unknownRoot
        case .selfSigned: self = .selfSigned
        case .expired: self = .date
        case .notYetValid: self = .notYetValid
        case .name: self = .name
        case .purpose: self = .purpose
        case .weakKey: self = .weakKey
        default: self = .chain
        }
    }
}
