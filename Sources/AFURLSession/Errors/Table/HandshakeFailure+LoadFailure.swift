import AFLoop
import AFTLS
import AFTransport
import AFWire

// Rows for TLS and trust.
extension LoadFailure {
    init(_ failure: HandshakeFailure, peer: Endpoint) {
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

    /// Why a policy refused the server of a challenge; nil if the policy accepted it.
    package init?(_ decision: ServerTrustDecision, trust: ServerTrust, port: Int) {
        guard let refusal = TrustRefusal(decision) else { return nil }
        let host = trust.host.contains(":") ? "[\(trust.host)]" : trust.host
        self.init(refusal, of: RefusedServer(host: trust.host, place: "\(host.asPeerText):\(port)", trust: trust))
    }

    private struct RefusedServer {
        let host: String
        /// Host and port.
        let place: String
        let trust: ServerTrust?
    }

    /// The server's certificates were not accepted.
    private init(_ refusal: TrustRefusal, of server: RefusedServer) {
        switch refusal {
        case .cancelled: self = .cancelled(phase: .tls)
        case .evaluation(let failure):
            // A certificate for another host is reported as such first, as Apple does, whatever else is wrong with it.
            let mismatch = failure.reason == .name ? nil : server.trust?.nameMismatch
            let reasons = mismatch == nil ? [failure.reason] : [.name, failure.reason]
            let (kind, advice) = failure.row(for: reasons[0], host: server.host)
            self.init(
                kind,
                server: server,
                explanation: mismatch.map { "\($0); besides, \(failure.message)" } ?? failure.message,
                advice: advice,
                reasons: reasons,
                verifyResult: failure.verifyResult
            )
        case .rule(let rule, let explanation):
            self.init(.trustPolicy, server: server, explanation: explanation, rule: rule)
        case .rejected: self.init(.trustDelegate, server: server, explanation: "the delegate rejected the server")
        case .unanswered:
            self.init(
                .trustDelegate,
                server: server,
                explanation: "the delegate did not decide in time",
                advice: "Answer the challenge sooner, or raise tls.decisionTimeout."
            )
        case .noAnchors(let problem): self.init(.trustAnchors, server: server, explanation: problem)
        }
    }

    private init(
        _ kind: Kind,
        server: RefusedServer,
        explanation: String,
        advice: String? = nil,
        reasons: [TrustFailure.Reason] = [],
        rule: String? = nil,
        verifyResult: Int32? = nil
    ) {
        self.init(
            kind,
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

    /// The TLS protocol failed, in the handshake or later.
    init(
        _ failure: TLSFailure,
        phase: Phase,
        identification: TransferError.Identification,
        trust: ServerTrust?,
        peer: Endpoint
    ) {
        var alert: UInt8?
        if case .alert(let number) = failure.kind { alert = number }
        let (kind, what, advice) = failure.row(identification)
        let doing = phase == .tls ? "Securing the connection to" : "The secured connection to"
        self.init(
            kind,
            phase: phase,
            message: "\(doing) \(peer.text) failed: \(what).",
            advice: advice,
            security: Security(host: peer.host.text, servedChain: trust?.servedChain ?? [], alert: alert)
        )
    }
}

extension TLSFailure {
    fileprivate func row(
        _ identification: TransferError.Identification
    ) -> (kind: LoadFailure.Kind, what: String, advice: String?) {
        let noVersion = "no version of TLS in common (\(detail)). TLS 1.2 is the oldest that is spoken"
        return switch kind {
        case .version: (.tlsVersion, noVersion, nil)
        case .cipher: (.tlsCipher, detail, nil)
        case .alpn: (.tlsALPN, detail, nil)
        case .renegotiation: (.tlsRenegotiation, detail, nil)
        case .flood: (.tlsFlood, detail, nil)
        case .notTLS:
            (.tlsNotTLS, "what arrived is not TLS (\(detail))", "Does the server speak plain http on this port?")
        case .refused: (.trustChain, detail, nil)
        case .ended: (.lostReset, detail, nil)
        case .violation, .local: (.tls, detail, nil)
        // RFC 8446 §6. TLS 1.2 has no alert of its own for a missing certificate.
        case .alert(let number):
            switch (number, identification) {
            case (116, _), (40, .withheld):
                (
                    .clientCertificateRequired, "the server asks for a certificate of ours (\(detail))",
                    "Set tls.identity."
                )
            case (41...46, .shown), (48, .shown), (49, .shown), (51, .shown):
                (
                    .clientCertificate, "the server did not accept our certificate (\(detail))",
                    "Check who issued it and its dates."
                )
            case (70, _): (.tlsVersion, noVersion, nil)
            case (120, _): (.tlsALPN, detail, nil)
            default: (.tlsAlert, "the server refused with the alert \"\(detail)\"", nil)
            }
        }
    }
}

extension TrustFailure {
    /// The advice names the certificate that is at fault: it need not be the server's own.
    fileprivate func row(for reason: Reason, host: String) -> (kind: LoadFailure.Kind, advice: String) {
        if reason == .name { return (.trustName, "Use a host the certificate is for, or have one issued for \(host).") }
        let subject = certificate.map { "\"\($0.subject)\"" }
        let (kind, advice): (LoadFailure.Kind, String?) =
            switch reason {
            case .unknownRoot:
                (
                    .trustUnknownRoot,
                    certificate.map { "If \"\($0.issuer)\" is an authority of yours, add it to tls.anchors." }
                )
            case .selfSigned: (.trustSelfSigned, subject.map { "If \($0) is one of yours, add it to tls.anchors." })
            case .incompleteChain:
                (
                    .trustUnknownRoot,
                    subject.map { _ in "The server must send its intermediate certificates; ask its operator." }
                )
            case .expired: (.trustDate, subject.map(Self.renewal))
            case .notYetValid: (.trustNotYetValid, subject.map(Self.renewal))
            case .purpose: (.trustPurpose, subject.map(replacement))
            case .weakKey: (.trustWeakKey, subject.map(replacement))
            default: (.trustChain, subject.map(replacement))
            }
        return (kind, advice ?? "The server needs another certificate.")
    }

    private static func renewal(_ subject: String) -> String {
        "Renew the certificate \(subject), or set the clock of this machine."
    }

    private func replacement(_ subject: String) -> String {
        if isForgivenIfNamed {
            return "If \(subject) is an authority of yours, add it to tls.anchors; "
                + "if not, the authority needs another certificate."
        }
        return depth > 0
            ? "The authority \(subject) needs another certificate."
            : "The server needs another certificate in place of \(subject)."
    }
}
