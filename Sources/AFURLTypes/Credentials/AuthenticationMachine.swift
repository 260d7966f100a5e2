import AFState
import AFTLS
package import AFWire

/// The authentication of one task: to each of its origins and proxies separately, over all its exchanges. Confined to
/// the loop.
///
/// For each exchange, in this order:
///
/// 1. ``prepare(_:knowing:)`` decides which credentials go with the request. If it returns a function, compute the digest
///    of the body with it (without a body there is nothing to do).
/// 2. ``fieldValues(for:bodyDigest:)`` returns the values of `Authorization` and `Proxy-Authorization`. Call it once
///    for each request: a request that is repeated on another connection without a response keeps its bytes.
/// 3. ``received(_:headers:to:knowing:)`` takes every final response, also one that asks for nothing, before any other code
///    sees it.
/// 4. After `ask`, and only then, ``answered(_:knowing:)`` takes the answer of the delegate, or default handling if the
///    delegate gave none.
///
/// The machine reads what the session knows and changes nothing of it, but that each answer of Digest counts a use of its
/// nonce. What a response or an answer teaches is in the ``AuthenticationTurn`` that it returns. Only
/// ``ProvenCredentials/learn(from:)`` gives the step of a turn, so the session has forgotten a refused credential before the
/// task goes on.
///
/// ```
/// var machine = AuthenticationMachine()
/// let exchange = AuthenticationExchange(url, method: "GET", trust: scope)
/// while true {
///     let function = machine.prepare(exchange, knowing: proven.known(for: exchange))
///     let fields = machine.fieldValues(for: exchange, bodyDigest: function.map { digestOfBody($0) })
///     let head = send(fields)
///     var step = proven.learn(from: machine.received(head.status, head.headers, to: exchange, knowing: proven.known))
///     while case .ask(let question) = step {
///         step = proven.learn(from: machine.answered(askDelegate(question), knowing: proven.known))
///     }
///     guard case .again = step else { break }
/// }
/// ```
///
/// A task that follows a redirect keeps its machine and makes another exchange. What was answered to one party is sent
/// to no other.
package struct AuthenticationMachine {
    /// How the task goes on.
    package enum Step {
        /// Deliver this response to the task.
        case deliver
        /// Send the same request once more.
        case again
        /// Ask the delegate this question, and go on with its answer.
        case ask(CredentialQuestion)
        /// The delegate cancels the task.
        case cancel
        /// The task fails: the credential cannot be sent in the form that the party wants.
        case fail(RequestRejection)
    }

    /// The values of the two fields of the request; nil where the field is left out.
    package struct FieldValues: Equatable {
        package var authorization: [UInt8]?
        package var proxyAuthorization: [UInt8]?

        package init() {}
    }

    /// What the task knows of one party.
    private struct Talk {
        let party: ChallengingParty
        /// How often the request was repeated because the party asked, since the party last accepted one.
        var rounds = 0
        /// The strength of the last offer that the task chose. A party that suddenly offers something weaker is another
        /// server, or wants the password.
        var floor = 0
        /// Offers that the delegate rejected.
        var declined: [AuthenticationOffer] = []
        /// Credentials that the party refused.
        var refused: [AuthenticationAttempt] = []
        /// From the first URL of this origin that had any.
        var userInfo: URLUserInfo?
        /// The credential that a proxy was configured with.
        var configured: URLCredential?
        /// What is sent with the next request.
        var ready: AuthenticationAttempt?
        /// What was sent with the request under way.
        var sent: AuthenticationAttempt?
        var digestAnswer: DigestAnswer?
    }

    /// A question that the delegate has not answered yet.
    private struct Asking {
        let place: Int
        let offer: AuthenticationOffer
        /// This offer and the weaker ones.
        let offers: [AuthenticationOffer]
        let proposals: [KnownCredentials.Proposal]
    }

    private var talks: [Talk] = []
    private var asking: Asking?
    /// What this turn has taught so far.
    private var lessons: [CredentialLesson] = []
    /// How the origin proved itself in its last response.
    package private(set) var proof = DigestAnswer.Proof.absent
    /// Why none of the challenges in the last response can be answered; nil if one can, or there are none.
    package private(set) var complaint: String?

    package init() {}

    // MARK: - Before a request

    /// Decides which credentials go with the request.
    ///
    /// - Returns: The function to compute the digest of the body with, if the request has a body and a party wants its
    ///   digest. There is one function for origin and proxy: if the proxy wants another one, it is given no answer.
    package mutating func prepare(
        _ exchange: AuthenticationExchange,
        knowing known: KnownCredentials
    ) -> DigestFunction? {
        var function: DigestFunction?
        for party in exchange.parties {
            let isOwn = !party.isProxy && exchange.hasOwnAuthorization
            let place = talks.firstIndex { $0.party == party }
            if let place { talks[place].sent = nil }
            let unasked =
                isOwn
                ? nil
                : known.attempt(for: party, under: exchange.trust, path: exchange.path).flatMap {
                    party.isProxy || exchange.mayBeSent(by: $0.credential) ? $0 : nil
                }
            guard let attempt = place.flatMap({ talks[$0].ready }) ?? unasked else { continue }
            if let wanted = attempt.bodyFunction {
                guard exchange.mayHashBody, function == nil || function == wanted else { continue }
                function = wanted
            }
            talks[place ?? begin(party)].sent = attempt
        }
        return function
    }

    /// The values of the fields for this request. Call it once for each request: every answer of Digest counts its use.
    ///
    /// - Parameter bodyDigest: The digest with the function that ``prepare(_:knowing:)`` returned; nil if there is no body.
    package mutating func fieldValues(for exchange: AuthenticationExchange, bodyDigest: [UInt8]? = nil) -> FieldValues {
        var values = FieldValues()
        let body = bodyDigest.map(DigestAlgorithm.hexadecimal)
        for party in exchange.parties {
            guard let place = talks.firstIndex(where: { $0.party == party && $0.sent != nil }) else { continue }
            let value = value(at: place, for: exchange, body: body)
            // The nonce is used up. Send nothing: the server asks again.
            if value == nil { talks[place].sent = nil }
            if party.isProxy { values.proxyAuthorization = value } else { values.authorization = value }
        }
        return values
    }

    private mutating func value(at place: Int, for exchange: AuthenticationExchange, body: [UInt8]?) -> [UInt8]? {
        talks[place].digestAnswer = nil
        switch talks[place].sent?.form {
        case nil: return nil
        case .fixed(let value, _): return value.withBytes { Array($0) }
        case .digest(let session):
            // The origin sees path and query, whatever target a proxy reads.
            let target = talks[place].party.isProxy ? exchange.target : exchange.path
            let answer = session.answer(method: Array(exchange.method.utf8), target: target, bodyDigest: body)
            talks[place].digestAnswer = answer
            return answer?.fieldValue
        }
    }

    private mutating func begin(_ party: ChallengingParty) -> Int {
        talks.append(Talk(party: party))
        return talks.count - 1
    }

    // MARK: - After a response

    /// Takes a final response.
    package mutating func received(
        _ status: Int,
        headers: HTTPHeaders,
        to exchange: AuthenticationExchange,
        knowing known: KnownCredentials
    ) -> AuthenticationTurn {
        let asker = exchange.asker(status)
        complaint = nil
        settle(status, headers: headers, of: exchange, asker: asker?.party)
        guard let asker else { return turn(.deliver) }
        let place = talks.firstIndex { $0.party == asker.party } ?? begin(asker.party)
        if talks[place].userInfo == nil, !asker.party.isProxy {
            talks[place].userInfo = exchange.userInfo.flatMap(URLUserInfo.init)
        }
        talks[place].configured = asker.party.isProxy ? exchange.proxyCredential : nil
        let challenges = Challenge.list(in: headers, name: asker.field)
        let host = asker.party.endpoint.host.text
        let offers = AuthenticationOffer.list(challenges, from: host, mayHashBody: exchange.mayHashBody)
        if offers.isEmpty {
            complaint = AuthenticationOffer.complaint(about: challenges, in: headers, field: asker.field)
        }
        if exchange.sendsProxyCredential { noteConfigured(at: place, offers: offers, knowing: known) }
        if let step = refused(at: place, offers: offers, knowing: known) { return turn(step) }
        return turn(next(at: place, offers: offers, knowing: known))
    }

    /// Ends a turn.
    private mutating func turn(_ step: Step) -> AuthenticationTurn {
        defer { lessons = [] }
        return AuthenticationTurn(step: step, teaching: lessons)
    }

    /// A party that does not ask has accepted what it was given.
    private mutating func settle(
        _ status: Int,
        headers: HTTPHeaders,
        of exchange: AuthenticationExchange,
        asker: ChallengingParty?
    ) {
        proof = .absent
        // The origin has not seen a request that the proxy refused to pass on.
        if asker?.isProxy == true { return }
        for party in exchange.parties where party != asker {
            guard let place = talks.firstIndex(where: { $0.party == party }) else { continue }
            guard let attempt = talks[place].sent else { continue }
            let proof = proof(of: place, in: headers)
            if !party.isProxy { self.proof = proof }
            // The server may send an error before it looks at the credential.
            let isContent = status < 400 || status == 404 || asker != nil
            if isContent, !attempt.isAhead, proof != .wrong {
                lessons.append(.remember(attempt, of: party, under: exchange.trust, path: exchange.path))
            }
            talks[place].rounds = 0
            talks[place].ready = nil
            talks[place].sent = nil
        }
    }

    private mutating func proof(of place: Int, in headers: HTTPHeaders) -> DigestAnswer.Proof {
        guard let answer = talks[place].digestAnswer else { return .absent }
        let field = talks[place].party.isProxy ? "Proxy-Authentication-Info" : "Authentication-Info"
        guard let info = headers.firstBytes(field) else { return .absent }
        let (proof, nextNonce) = info.withUnsafeBytes { answer.check($0) }
        if let nextNonce { lessons.append(.renew(answer.session, with: nextNonce, of: talks[place].party)) }
        return proof
    }

    /// The request had the credential of the session's configuration, by Basic. A proxy that offers Basic refuses it.
    private mutating func noteConfigured(at place: Int, offers: [AuthenticationOffer], knowing known: KnownCredentials)
    {
        let talk = talks[place]
        guard let credential = talk.configured, talk.sent == nil, talk.refused.isEmpty,
            let offer = offers.first(where: { if case .basic = $0.scheme { true } else { false } })
        else { return }
        talks[place].sent = try? known.attempt(credential, from: .url, for: offer, of: talk.party)
    }

    /// Records what the party refused. Returns a step if the same credential is to be sent once more.
    private mutating func refused(at place: Int, offers: [AuthenticationOffer], knowing known: KnownCredentials)
        -> Step?
    {
        let party = talks[place].party
        let sent = talks[place].sent
        talks[place].sent = nil
        talks[place].ready = nil
        // Another realm was sent nothing yet, so it refused nothing.
        guard let sent, sent.isUnaskedToken || offers.contains(where: { $0.realm == sent.realm }) else { return nil }
        lessons.append(.forget(sent, of: party))
        if let offer = offers.first(where: { renews($0, after: sent) }) {
            // The server refused the nonce and did not look at the password.
            var known = known
            known.forget(sent, of: party)
            return answer(at: place, to: offer, with: sent.credential, from: sent.source, knowing: known)
        }
        talks[place].refused.append(sent)
        return nil
    }

    /// Whether only the nonce is too old: the server says so, or it says nothing and the nonce is from an earlier task
    /// (a server that restarts forgets its nonces).
    private func renews(_ offer: AuthenticationOffer, after sent: AuthenticationAttempt) -> Bool {
        guard case .digest(let challenge) = offer.scheme, let session = sent.digest, offer.realm == sent.realm,
            challenge.algorithm == session.challenge.algorithm
        else { return false }
        return challenge.isStale || (sent.isAhead && challenge.nonce != session.nonce)
    }

    // MARK: - Asking

    /// Asks the delegate about the strongest offer that is left.
    private mutating func next(at place: Int, offers: [AuthenticationOffer], knowing known: KnownCredentials) -> Step {
        asking = nil
        let talk = talks[place]
        guard talk.rounds < known.settings.rounds else { return .deliver }
        let open = offers.filter { offer in
            offer.strength >= talk.floor && !talk.declined.contains { $0.isSame(as: offer) }
        }
        let proposals = open.map { self.proposals(for: $0, in: talk, knowing: known) }
        // Choose an offer for which a token is stored. Without one, choose the strongest that asks for a password.
        let choice =
            open.indices.first { open[$0].isBearer && !proposals[$0].isEmpty }
            ?? open.indices.first { !open[$0].isBearer } ?? open.indices.first
        guard let choice else { return .deliver }
        let offer = open[choice]
        talks[place].floor = offer.strength
        asking = Asking(place: place, offer: offer, offers: open, proposals: proposals[choice])
        let question = CredentialQuestion(
            space: talk.party.space(realm: offer.realm, method: offer.method, scope: offer.scope),
            proposedCredential: proposals[choice].first?.credential,
            previousFailureCount: talk.refused.filter { $0.isUnaskedToken || $0.realm == offer.realm }.count
        )
        return .ask(question)
    }

    /// A credential that the party refused is not proposed again.
    private func proposals(
        for offer: AuthenticationOffer,
        in talk: Talk,
        knowing known: KnownCredentials
    ) -> [KnownCredentials.Proposal] {
        let proposals = known.proposals(
            for: offer,
            of: talk.party,
            userInfo: talk.userInfo,
            configured: talk.configured
        )
        return proposals.filter { proposal in
            !talk.refused.contains {
                ($0.realm == offer.realm || $0.isUnaskedToken) && $0.credential == proposal.credential
            }
        }
    }

    /// Takes the answer of the delegate to the last question. If there was no question, the response is delivered.
    package mutating func answered(_ answer: CredentialAnswer, knowing known: KnownCredentials) -> AuthenticationTurn {
        turn(step(after: answer, knowing: known))
    }

    private mutating func step(after answer: CredentialAnswer, knowing known: KnownCredentials) -> Step {
        guard let asked = asking else { return .deliver }
        asking = nil
        switch answer {
        case .cancel: return .cancel
        case .performDefault:
            guard let proposal = asked.proposals.first(where: \.mayBeSent) else { return .deliver }
            return self.answer(
                at: asked.place,
                to: asked.offer,
                with: proposal.credential,
                from: proposal.source,
                knowing: known
            )
        case .reject:
            talks[asked.place].declined.append(asked.offer)
            // The delegate has decided here and not the server.
            talks[asked.place].floor = 0
            return next(at: asked.place, offers: asked.offers, knowing: known)
        case .use(nil): return .deliver
        case .use(let credential?):
            let proposal = asked.proposals.first { $0.credential == credential }
            return self.answer(
                at: asked.place,
                to: asked.offer,
                with: credential,
                from: proposal?.source ?? .delegate,
                knowing: known
            )
        }
    }

    private mutating func answer(
        at place: Int,
        to offer: AuthenticationOffer,
        with credential: URLCredential,
        from source: AuthenticationAttempt.Source,
        knowing known: KnownCredentials
    ) -> Step {
        let talk = talks[place]
        guard talk.rounds < known.settings.rounds, offer.strength >= talk.floor else { return .deliver }
        do throws(RequestRejection) {
            guard let attempt = try known.attempt(credential, from: source, for: offer, of: talk.party) else {
                return .deliver
            }
            lessons.append(.share(attempt, with: talk.party))
            talks[place].ready = attempt
            talks[place].rounds += 1
            talks[place].floor = offer.strength
            return .again
        } catch {
            return .fail(error)
        }
    }
}

/// What the session asks the delegate when a server or proxy wants a credential.
package struct CredentialQuestion: Sendable {
    package let space: URLProtectionSpace
    package let proposedCredential: URLCredential?
    package let previousFailureCount: Int
}

/// What the delegate answers.
package enum CredentialAnswer {
    /// Send this credential; nil goes on without one.
    case use(URLCredential?)
    /// Do what happens without a delegate.
    case performDefault
    case cancel
    /// Try another method, if the server offers one.
    case reject
}
