import AFLoop
import AFState

/// What an exchange with one party teaches about a credential.
enum CredentialLesson {
    /// The party has accepted the credential for this path.
    case remember(AuthenticationAttempt, of: ChallengingParty, under: TrustScope, path: [UInt8])
    /// The party has refused the credential.
    case forget(AuthenticationAttempt, of: ChallengingParty)
    /// The task answers with this credential. If it does so by Digest, tasks that are given the same nonce count together.
    case share(AuthenticationAttempt, with: ChallengingParty)
    /// The party has named the nonce that comes after the one of this session.
    case renew(DigestSession, with: [UInt8], of: ChallengingParty)
}

/// What ``AuthenticationMachine`` makes of a response or of an answer: what is to be learnt, and how the task goes on after
/// that. Only ``ProvenCredentials/learn(from:)`` gives the step away, so no task goes on with what was refused.
package struct AuthenticationTurn {
    fileprivate let step: AuthenticationMachine.Step
    let lessons: [CredentialLesson]

    init(step: AuthenticationMachine.Step, teaching lessons: [CredentialLesson]) {
        self.step = step
        self.lessons = lessons
    }
}

/// The credentials that a session knows, as they change: it learns what worked, to send it again unasked where it belongs,
/// and forgets what was refused or removed. Confined to the loop.
package final class ProvenCredentials {
    /// How many realms are kept, of all parties together; above that, the one that was proven first is forgotten.
    package static let maximumEntries = 256
    /// Random bytes in each client nonce.
    static let nonceLength = 16

    @exclusivity(unchecked) private var memory: KnownCredentials

    /// - Parameter random: Returns 16 bytes that cannot be guessed, or nil if the system has none.
    package init(
        settings: CredentialSettings,
        random: @escaping () -> [UInt8]? = { try? SystemRandom.bytes(ProvenCredentials.nonceLength) }
    ) {
        memory = KnownCredentials(settings: settings, random: random)
    }

    package var settings: CredentialSettings { memory.settings }

    /// Whether there is no credential for any request before its server asks.
    package var isEmpty: Bool { memory.isEmpty }

    /// What the session knows now.
    package var known: KnownCredentials { memory }

    /// What the session knows now that an exchange begins: without what the program has removed from the storage.
    package func known(for exchange: AuthenticationExchange) -> KnownCredentials {
        for party in exchange.parties { dropWhatIsGone(party) }
        return memory
    }

    /// Forgets a credential that the program has since removed or replaced in the storage, or put behind another one.
    private func dropWhatIsGone(_ party: ChallengingParty) {
        guard let storage = settings.storage else { return }
        let generation = storage.generation
        memory.entries.removeAll { entry in
            guard entry.party == party, let space = entry.space, entry.generation != generation else { return false }
            return storage.choice(for: space, user: nil) != entry.attempt.credential
        }
        for index in memory.entries.indices where memory.entries[index].party == party {
            memory.entries[index].generation = generation
        }
    }

    // MARK: - Learning

    /// Learns what a turn teaches, in its order.
    ///
    /// - Returns: How the task goes on.
    package func learn(from turn: AuthenticationTurn) -> AuthenticationMachine.Step {
        for lesson in turn.lessons {
            switch lesson {
            case .remember(let attempt, let party, let trust, let path):
                remember(attempt, of: party, under: trust, path: path)
            case .forget(let attempt, let party): memory.forget(attempt, of: party)
            case .share(let attempt, let party): memory.share(attempt, with: party)
            case .renew(let session, let nonce, let party): renew(session, with: nonce, of: party)
            }
        }
        return turn.step
    }

    private func renew(_ session: DigestSession, with nonce: [UInt8], of party: ChallengingParty) {
        guard let clientNonce = memory.clientNonce() else { return }
        let uses = memory.uses(of: nonce, by: party) ?? NonceUses(nonce)
        memory.count(uses, of: party)
        session.renew(uses, clientNonce: clientNonce)
    }

    /// Records that a party has accepted this credential for `path`.
    private func remember(
        _ attempt: AuthenticationAttempt,
        of party: ChallengingParty,
        under trust: TrustScope,
        path: [UInt8]
    ) {
        guard attempt.credential.persistence != .none, isStillStored(attempt) else { return }
        let scope = scope(of: attempt, at: party, path: path)
        let isOwn = { (entry: KnownCredentials.Entry) in entry.party == party && entry.trust == trust }
        if let index = memory.entries.firstIndex(where: { isOwn($0) && $0.attempt.isSame(as: attempt) }) {
            // Another nonce replaces the one of the entry. A credential without a nonce may add a path.
            memory.entries[index].attempt = attempt
            if attempt.digest == nil {
                memory.entries[index].scope.formUnion(scope)
            } else {
                memory.entries[index].scope = scope
            }
            return
        }
        memory.entries.removeAll { isOwn($0) && $0.attempt.realm == attempt.realm }
        if memory.entries.count >= ProvenCredentials.maximumEntries { memory.entries.removeFirst() }
        let space = kept(attempt, of: party)
        let generation = settings.storage?.generation
        memory.entries.append(
            KnownCredentials.Entry(
                party: party,
                trust: trust,
                attempt: attempt,
                scope: scope,
                space: space,
                generation: generation
            )
        )
    }

    /// False if the program has removed or replaced the credential while it was under way.
    private func isStillStored(_ attempt: AuthenticationAttempt) -> Bool {
        guard case .storage(let space) = attempt.source else { return true }
        return settings.storage?.holds(attempt.credential, for: space) == true
    }

    /// The space under which the storage keeps the credential; the storage takes it now if the delegate gave it.
    private func kept(_ attempt: AuthenticationAttempt, of party: ChallengingParty) -> URLProtectionSpace? {
        switch attempt.source {
        case .storage(let space): return space
        case .url, .netrc: return nil
        case .delegate:
            // The storage does not know `Host`: a credential for one named host would be sent to the others at the same
            // endpoint.
            guard let storage = settings.storage, party.namedHost == nil else { return nil }
            let space = party.space(realm: attempt.realm, method: attempt.method)
            storage.learn(attempt.credential, for: space)
            return space
        }
    }

    private func scope(
        of attempt: AuthenticationAttempt,
        at party: ChallengingParty,
        path: [UInt8]
    ) -> ProtectionScope {
        if party.isProxy { return .everything }
        switch attempt.form {
        case .fixed(_, isToken: true): return .everything
        case .fixed(_, isToken: false): return .folder(of: path)
        case .digest(let session): return .domain(session.challenge.domain, at: party.endpoint)
        }
    }

    /// Forgets everything but how often each nonce was used.
    package func forgetAll() { memory.forgetAll() }
}
