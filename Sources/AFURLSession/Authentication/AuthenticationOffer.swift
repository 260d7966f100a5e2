import AFTLS
import AFWire

/// A way to be convinced that a server or proxy offers and that we can go.
///
/// NTLM and Negotiate are none: they authenticate a connection and not a request, so that whoever is served on it next
/// would be served with somebody else's name.
struct AuthenticationOffer: Sendable {
    enum Scheme: Sendable {
        case basic
        case bearer
        case digest(DigestChallenge)
    }

    let scheme: Scheme
    let realm: [UInt8]?
    /// What a token has to permit.
    let scope: [UInt8]?

    /// Nil for one that is malformed, unknown, or asks for something we cannot do.
    init?(_ challenge: Challenge, mayHashBody: Bool) {
        guard challenge.isUsable, challenge.token68 == nil else { return nil }
        realm = challenge.bytes("realm")
        guard realm?.count ?? 0 <= DigestChallenge.maximumLength else { return nil }
        switch challenge.scheme {
        case "basic":
            // RFC 7617 §2 requires it; credentials are bound to it.
            guard realm != nil else { return nil }
            scheme = .basic
            scope = nil
        case "bearer":
            scheme = .bearer
            scope = challenge.bytes("scope")
        case "digest":
            guard let digest = DigestChallenge(challenge, mayHashBody: mayHashBody) else { return nil }
            scheme = .digest(digest)
            scope = nil
        default: return nil
        }
    }

    /// What is left of a list, the strongest first, and in the server's order where two are as strong.
    static func list(_ challenges: [Challenge], mayHashBody: Bool) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { AuthenticationOffer($0, mayHashBody: mayHashBody) }
        return offers.enumerated()
            .sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element)
    }

    /// How hard it is to learn the secret from what we send.
    var strength: Int {
        switch scheme {
        case .basic, .bearer: 1
        case .digest(let digest):
            switch digest.algorithm.function {
            case .md5: 2
            case .sha256: 3
            case .sha512_256: 4
            }
        }
    }

    var isBearer: Bool {
        if case .bearer = scheme { true } else { false }
    }

    /// Whether what we send is the secret itself.
    var sendsSecret: Bool { strength == 1 }

    var method: String {
        switch scheme {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .bearer: NSURLAuthenticationMethodHTTPBearer
        case .digest: NSURLAuthenticationMethodHTTPDigest
        }
    }

    /// Under which methods a stored credential may be for this: who keeps a password for a way that shows it to the
    /// server may have it used in one that does not.
    var methodsOfStorage: [String] {
        switch scheme {
        case .basic: [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodDefault]
        case .bearer: [NSURLAuthenticationMethodHTTPBearer]
        case .digest:
            [NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodDefault]
        }
    }

    /// Whether it is the same way in the same realm.
    func isSame(as other: AuthenticationOffer) -> Bool {
        realm == other.realm && strength == other.strength && isBearer == other.isBearer
    }

    func fits(_ credential: URLCredential) -> Bool {
        isBearer ? credential.secretToken != nil : credential.secretPassword != nil
    }
}
