package import AFState
import AFTLS
package import AFWire

/// What a session knows about credentials at one moment: those it may look up, and those that worked. To read it changes
/// nothing; ``ProvenCredentials`` keeps the one that holds now.
///
/// Each entry belongs to the party it was learnt from: scheme, host, port, role, and the host that a caller's `Host`
/// names; and to the judgement under which that party was accepted. So nothing that one server said is ever told to another,
/// and a server that laxer rules have accepted gets no password unasked.
///
/// A request looks at each entry, of which there are at most `ProvenCredentials.maximumEntries`.
package struct KnownCredentials {
    struct Entry {
        let party: ChallengingParty
        let trust: TrustScope
        var attempt: AuthenticationAttempt
        var scope: ProtectionScope
        /// The space under which the storage keeps it; nil if the storage does not.
        let space: URLProtectionSpace?
        /// The generation of the storage when the credential was last seen there.
        var generation: Int?
    }

    private struct LiveSession {
        let party: ChallengingParty
        let credential: URLCredential
        let session: DigestSession
    }

    private struct LiveNonce {
        let party: ChallengingParty
        let uses: NonceUses
    }

    /// How many nonces are kept that are in use or were lately.
    static let maximumNonces = 256

    package let settings: CredentialSettings
    private let makeRandom: () -> [UInt8]?
    var entries: [Entry] = []
    /// Tasks that answer the same challenge with the same credential share one session and its key.
    private var sessions: [LiveSession] = []
    private var nonces: [LiveNonce] = []

    init(settings: CredentialSettings, random: @escaping () -> [UInt8]?) {
        self.settings = settings
        makeRandom = random
    }

    /// A client nonce: 128 bits that cannot be guessed, in hexadecimal.
    func clientNonce() -> [UInt8]? { makeRandom().map(DigestAlgorithm.hexadecimal) }

    /// Whether there is no credential for any request before its server asks.
    var isEmpty: Bool { entries.isEmpty && settings.storage?.isEmpty ?? true }

    // MARK: - Unasked

    /// The credential that a request to `party` is sent with before the party asks.
    package func attempt(
        for party: ChallengingParty,
        under trust: TrustScope,
        path: [UInt8]
    ) -> AuthenticationAttempt? {
        proven(for: party, under: trust, path: path) ?? (party.isProxy ? nil : token(for: party))
    }

    private func proven(
        for party: ChallengingParty,
        under trust: TrustScope,
        path: [UInt8]
    ) -> AuthenticationAttempt? {
        let own = entries.filter { $0.party == party && $0.trust == trust }
        let reachable = own.compactMap { entry in entry.scope.reach(to: path).map { (entry.attempt, $0) } }
        guard var attempt = reachable.max(by: { $0.1 < $1.1 })?.0 else { return nil }
        attempt.isAhead = true
        return attempt
    }

    private func token(for party: ChallengingParty) -> AuthenticationAttempt? {
        guard let storage = settings.storage, !storage.isEmpty,
            party.mayReceivePasswords || settings.sendsPasswordsInClear
        else { return nil }
        let space = party.space(realm: nil, method: NSURLAuthenticationMethodHTTPBearer)
        guard let credential = storage.choice(for: space, user: nil), let token = credential.secretToken,
            let bearer = try? token.withBytes({ token throws(RequestRejection) in
                try BearerCredentials(token: token)
            })
        else { return nil }
        return AuthenticationAttempt(
            realm: nil,
            credential: credential,
            source: .storage(space),
            form: .fixed(SecretBytes(bearer.fieldValue), isToken: true),
            isAhead: true
        )
    }

    // MARK: - Asked

    /// A known credential, and whether it may be sent without asking a delegate.
    package struct Proposal {
        package let credential: URLCredential
        package let source: AuthenticationAttempt.Source
        let mayBeSent: Bool
    }

    /// The credentials for an offer, in the order in which they are tried: from the URL or the configuration of the
    /// proxy, the storage, the netrc file.
    func proposals(
        for offer: AuthenticationOffer,
        of party: ChallengingParty,
        userInfo: URLUserInfo?,
        configured: URLCredential?
    ) -> [Proposal] {
        let isSafe = !offer.sendsSecret || party.mayReceivePasswords || settings.sendsPasswordsInClear
        var proposals: [Proposal] = []
        if let credential = party.isProxy ? configured : userInfo?.credential {
            proposals.append(Proposal(credential: credential, source: .url, mayBeSent: isSafe))
        }
        if let storage = settings.storage {
            for method in offer.methodsOfStorage {
                let space = party.space(realm: offer.realm, method: method)
                guard let credential = storage.choice(for: space, user: userInfo?.user) else { continue }
                // The program stored it for this method of this place, and has thereby allowed the method.
                let mayBeSent = isSafe || method == offer.method
                proposals.append(Proposal(credential: credential, source: .storage(space), mayBeSent: mayBeSent))
            }
        }
        if !party.isProxy,
            let credential = settings.netrc?.credential(for: party.endpoint.host, user: userInfo?.user)
        {
            proposals.append(Proposal(credential: credential, source: .netrc, mayBeSent: isSafe))
        }
        return proposals.filter { offer.fits($0.credential) }
    }

    /// A credential in the form that an offer wants.
    ///
    /// - Returns: Nil if the credential is of another kind, or the system has no random numbers or no such digest.
    /// - Throws: if user name, password or token cannot be sent at all.
    package func attempt(
        _ credential: URLCredential,
        from source: AuthenticationAttempt.Source,
        for offer: AuthenticationOffer,
        of party: ChallengingParty
    ) throws(RequestRejection) -> AuthenticationAttempt? {
        guard let form = try form(of: credential, for: offer, of: party) else { return nil }
        return AuthenticationAttempt(realm: offer.realm, credential: credential, source: source, form: form)
    }

    private func form(
        of credential: URLCredential,
        for offer: AuthenticationOffer,
        of party: ChallengingParty
    ) throws(RequestRejection) -> AuthenticationAttempt.Form? {
        switch offer.scheme {
        case .bearer:
            guard let token = credential.secretToken else { return nil }
            let bearer = try token.withBytes { bytes throws(RequestRejection) in try BearerCredentials(token: bytes) }
            return .fixed(SecretBytes(bearer.fieldValue), isToken: true)
        case .basic:
            guard let secret = credential.secretPassword else { return nil }
            let basic = try secret.user.withBytes { user throws(RequestRejection) in
                try secret.password.withBytes { password throws(RequestRejection) in
                    try BasicCredentials(user: user, password: password)
                }
            }
            return .fixed(SecretBytes(basic.field), isToken: false)
        case .digest(let challenge):
            return try session(for: challenge, with: credential, of: party).map { .digest($0) }
        }
    }

    /// Tasks that were given the same nonce share its count.
    private func session(
        for challenge: DigestChallenge,
        with credential: URLCredential,
        of party: ChallengingParty
    ) throws(RequestRejection) -> DigestSession? {
        let live = sessions.first { live in
            live.party == party && live.credential.hasSamePassword(as: credential)
                && live.session.nonce == challenge.nonce
                && live.session.challenge.asksTheSame(as: challenge)
        }
        if let live { return live.session }
        guard let secret = credential.secretPassword, let clientNonce = clientNonce() else { return nil }
        return try secret.user.withBytes { user throws(RequestRejection) in
            try secret.password.withBytes { password throws(RequestRejection) in
                try DigestSession(
                    challenge: challenge,
                    user: user,
                    password: password,
                    clientNonce: clientNonce,
                    uses: uses(of: challenge.nonce, by: party) ?? NonceUses(challenge.nonce)
                )
            }
        }
    }

    /// How often a nonce of a party was used; nil if it was not used yet.
    func uses(of nonce: [UInt8], by party: ChallengingParty) -> NonceUses? {
        nonces.last { $0.party == party && $0.uses.nonce == nonce }?.uses
    }

    // MARK: - Learning

    /// Keeps what an attempt by Digest is computed from, for the tasks that are given the same nonce.
    mutating func share(_ attempt: AuthenticationAttempt, with party: ChallengingParty) {
        guard let session = attempt.digest, !sessions.contains(where: { $0.session === session }) else { return }
        if sessions.count >= KnownCredentials.maximumNonces { sessions.removeFirst() }
        sessions.append(LiveSession(party: party, credential: attempt.credential, session: session))
        count(session.uses, of: party)
    }

    /// Counts the uses of a nonce from now on.
    mutating func count(_ uses: NonceUses, of party: ChallengingParty) {
        guard !nonces.contains(where: { $0.uses === uses }) else { return }
        if nonces.count >= KnownCredentials.maximumNonces { nonces.removeFirst() }
        nonces.append(LiveNonce(party: party, uses: uses))
    }

    /// Forgets a credential that a party has refused.
    mutating func forget(_ attempt: AuthenticationAttempt, of party: ChallengingParty) {
        entries.removeAll { $0.party == party && $0.attempt.isSame(as: attempt) }
        if let session = attempt.digest { sessions.removeAll { $0.session === session } }
    }

    /// Forgets everything but how often each nonce was used.
    mutating func forgetAll() {
        entries = []
        sessions = []
    }
}

extension AuthenticationAttempt {
    /// Whether it is the same credential for the same realm in the same form.
    package func isSame(as other: AuthenticationAttempt) -> Bool {
        realm == other.realm && method == other.method && credential == other.credential
    }

    package var method: String {
        switch form {
        case .fixed(_, let isToken):
            isToken ? NSURLAuthenticationMethodHTTPBearer : NSURLAuthenticationMethodHTTPBasic
        case .digest: NSURLAuthenticationMethodHTTPDigest
        }
    }

    /// A token that the storage keeps for the whole host, sent before the server asked.
    var isUnaskedToken: Bool { isAhead && realm == nil }
}

extension URLCredential {
    /// Whether the user and the password are the same, whatever their persistence.
    fileprivate func hasSamePassword(as other: URLCredential) -> Bool {
        secretPassword?.user == other.secretPassword?.user && secretPassword?.password == other.secretPassword?.password
    }
}

extension DigestChallenge {
    /// Whether an answer to one challenge is an answer to the other.
    fileprivate func asksTheSame(as other: DigestChallenge) -> Bool {
        algorithm == other.algorithm && namesAlgorithm == other.namesAlgorithm && realm == other.realm
            && opaque == other.opaque && quality == other.quality && hashesUser == other.hashesUser
            && wantsUTF8 == other.wantsUTF8
    }
}
