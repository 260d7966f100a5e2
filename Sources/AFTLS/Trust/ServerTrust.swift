package import AFBase

/// What a server showed, for which host, and against which anchors: everything a decision about it can rest on.
///
/// A value: evaluating it in one way does not change what another way finds. It remembers what it has found.
public struct ServerTrust: Sendable {
    /// The certificates as the server sent them, its own first. Nothing in them but
    /// the first one's key has been proven.
    public let servedChain: [Certificate]
    /// The host of the URL.
    public let host: String
    /// The authorities of the session.
    public let anchors: TrustAnchors
    /// The moment for which certificates must be valid, in seconds since 1970.
    package let moment: Int64
    private let securityLevel: Int
    /// OpenSSL's level that asks for 112 bits.
    package static let usualSecurityLevel = 2
    private let findings: Lock<Findings>
    /// What the functions of `AFSecurity` have set on it. It is no part of the value.
    package let overrides = Lock<(any ServerTrustOverrides)?>(nil)

    package init(servedChain: [Certificate], host: String, anchors: TrustAnchors, at moment: Int64, securityLevel: Int)
    {
        self.servedChain = servedChain
        self.host = host
        self.anchors = anchors
        self.moment = moment
        self.securityLevel = securityLevel
        findings = Lock(Findings())
    }

    // MARK: - Evaluating

    /// The standard evaluation: the chain leads to one of the anchors, is valid, and is for this host.
    public var evaluation: TrustEvaluation {
        // A host that is no name leaves OpenSSL none to check: refuse it.
        guard let name = PeerName(host) else { return refusal(for: host) }
        return evaluate(.tlsServer(name))
    }

    /// Says for which hosts the server's certificate is, if this host is not among them.
    package var nameMismatch: String? {
        guard let leaf = servedChain.first, let name = PeerName(host), !HostnameMatcher.matches(leaf, name) else {
            return nil
        }
        return NameText.mismatch(leaf, name: name)
    }

    /// The result for a host that no certificate can be for.
    package func refusal(for host: String) -> TrustEvaluation {
        ChainEvaluator.refusal(.name, message: "no certificate can be for the host \"\(host)\"", served: servedChain)
    }

    /// Evaluates the chain in another way.
    ///
    /// - Parameters:
    ///   - policy: What is checked.
    ///   - anchors: The authorities to trust, in place of the session's.
    ///   - allowsPartialChain: Whether an anchor that is no root may end the chain.
    public func evaluate(
        _ policy: TrustPolicy,
        anchors: TrustAnchors? = nil,
        allowsPartialChain: Bool = false
    ) -> TrustEvaluation {
        let question = Question(policy: policy, anchors: anchors, allowsPartialChain: allowsPartialChain)
        if let known = findings.withLock({ $0[question] }) { return known }
        let found = find(question)
        findings.withLock { $0.note(found, for: question) }
        return found
    }

    private func find(_ question: Question) -> TrustEvaluation {
        do throws(TrustAnchorsError) {
            return ChainEvaluator.evaluate(
                served: servedChain,
                policy: question.policy,
                store: try (question.anchors ?? anchors).store(),
                at: moment,
                securityLevel: securityLevel,
                allowsPartialChain: question.allowsPartialChain
            )
        } catch {
            return ChainEvaluator.refusal(.other, message: error.description, served: servedChain)
        }
    }

    /// What the evaluations that trusted the server so far have tolerated in its root.
    package var toleratedFlaws: [AuthorityFlaw] {
        let flaws = findings.withLock { $0.all.flatMap(\.toleratedFlaws) }
        return flaws.isEmpty ? [] : Set(flaws).sorted { $0.message < $1.message }
    }

    private struct Question: Equatable {
        package let policy: TrustPolicy
        package let anchors: TrustAnchors?
        package let allowsPartialChain: Bool
    }

    /// What was found, by what was asked. A list: few ways are asked about, mostly one, and the first entry of a dictionary
    /// has the runtime pass over all conformances of the program.
    private struct Findings {
        private var list: [(question: Question, found: TrustEvaluation)] = []

        var all: [TrustEvaluation] { list.map(\.found) }

        subscript(question: Question) -> TrustEvaluation? { list.first { $0.question == question }?.found }

        mutating func note(_ found: TrustEvaluation, for question: Question) {
            // Two threads may have found the same.
            if self[question] == nil { list.append((question, found)) }
        }
    }

    // MARK: - Later

    /// The same server at another moment, with the findings of this one. The caller must look at the dates itself.
    package func dated(_ moment: Int64) -> ServerTrust { ServerTrust(self, moment: moment) }

    /// The standard evaluation has been made, and found the server trusted.
    package var isKnownTrusted: Bool {
        standardQuestion.flatMap { question in findings.withLock { $0[question] } }?.isTrusted ?? false
    }

    /// The same server at a later moment, with the standard evaluation of this one and
    /// nothing else of what was found. Nil if a certificate of the chain is not valid then.
    package func recalled(at moment: Int64) -> ServerTrust? {
        guard let question = standardQuestion, let known = findings.withLock({ $0[question] }) else { return nil }
        let later = standing(at: moment)
        later.findings.withLock { $0.note(known, for: question) }
        return later.isWithinValidity ? later : nil
    }

    private var standardQuestion: Question? {
        PeerName(host).map { Question(policy: .tlsServer($0), anchors: nil, allowsPartialChain: false) }
    }

    /// The same server as it would have been judged at another moment.
    package func standing(at moment: Int64) -> ServerTrust {
        ServerTrust(
            servedChain: servedChain,
            host: host,
            anchors: anchors,
            at: moment,
            securityLevel: securityLevel
        )
    }

    private init(_ other: ServerTrust, moment: Int64) {
        servedChain = other.servedChain
        host = other.host
        anchors = other.anchors
        securityLevel = other.securityLevel
        findings = Lock(other.findings.withLock { $0 })
        self.moment = moment
    }

    /// Every certificate of the chain that was trusted is valid at this moment. The last
    /// second counts as over, as it does where the chain is judged.
    package var isWithinValidity: Bool {
        evaluation.chain.allSatisfy { $0.notBeforeSeconds <= moment && moment < $0.notAfterSeconds }
    }
}

extension ServerTrust: CustomStringConvertible {
    /// The host, and what it showed: in one line, also where an error is printed.
    public var description: String {
        let shown =
            servedChain.first.map { "\(servedChain.count) from the server, the first: \($0)" } ?? "no certificate"
        return "trust of \(host): \(shown)"
    }
}

extension ServerTrust: Hashable {
    /// Equal if the same certificates were shown for the same host, against the same anchors, at the same time.
    public static func == (left: ServerTrust, right: ServerTrust) -> Bool {
        left.servedChain == right.servedChain && left.host == right.host && left.anchors == right.anchors
            && left.moment == right.moment && left.securityLevel == right.securityLevel
    }

    /// Hashes host and certificates.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(servedChain)
    }
}

/// Settings that are kept beside a ``ServerTrust`` and shared by its copies.
package protocol ServerTrustOverrides: Sendable {}
