package import AFTLS

/// The rules for secured connections, as they were at one time. Connections and TLS sessions made under one context are
/// never used under another.
///
/// Contexts differ by a number that is never given twice.
package final class SecurityContext {
    package let id: Int
    /// The owner of the rules: 0 for the servers, any other number for a proxy.
    package let owner: Int
    package let configuration: TLSConfiguration
    /// A snapshot: it decides the same for as long as the context lives.
    package let evaluator: (any ServerEvaluator)?
    package let fingerprint: [UInt8]
    @exclusivity(unchecked) package var sessions: TLSSessionCache
    @exclusivity(unchecked) package var servers = TrustedServers()
    @exclusivity(unchecked) private var made: TLSContext?

    package init(
        id: Int,
        configuration: TLSConfiguration,
        evaluator: (any ServerEvaluator)?,
        fingerprint: [UInt8],
        sessionsPerPeer: Int,
        owner: Int = 0
    ) {
        self.id = id
        self.owner = owner
        self.configuration = configuration
        self.evaluator = evaluator
        self.fingerprint = fingerprint
        sessions = TLSSessionCache(sessionsPerPeer: sessionsPerPeer)
    }

    package func context() throws(TLSFailure) -> TLSContext {
        if let made { return made }
        let context = try TLSContext(configuration.parameters)
        made = context
        return context
    }

    /// Call it when a handshake has failed for another reason than trust: the next one makes a new OpenSSL context.
    ///
    /// OpenSSL leaves out of a context, without a word, what it had no memory for when that was made: ciphers, groups.
    /// Every later handshake would fail as well.
    package func forgetContext() { made = nil }

    /// Whether equal fingerprints mean equal decisions: an evaluator without one says nothing about its own.
    package var isNamed: Bool { evaluator == nil || evaluator?.fingerprint != nil }

    /// Whether a connection may resume the TLS session of an earlier one. Not under an evaluator without a fingerprint: it
    /// may decide otherwise now, and resumption would not ask it.
    package var mayResume: Bool { configuration.resumesSessions && isNamed }
}

extension SecurityContext: Hashable {
    package static func == (left: SecurityContext, right: SecurityContext) -> Bool {
        left.id == right.id && left.owner == right.owner
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
