import AFState
package import AFWire

/// A way to authenticate that a server or proxy offers and the session supports.
///
/// NTLM and Negotiate are not among them: they authenticate a connection and not a request, so the next request on that
/// connection would be served in another user's name.
package struct AuthenticationOffer: Sendable {
    package enum Scheme: Sendable {
        case basic
        case bearer
        case digest(DigestChallenge)
    }

    package let scheme: Scheme
    package let realm: [UInt8]?
    /// The scope that the token must have.
    package let scope: [UInt8]?

    /// Nil for a challenge that is malformed, of an unknown scheme, or asks for something the session cannot do.
    ///
    /// - Parameter host: The realm of a Basic challenge without one, as on Apple's platforms. RFC 7617 §2 requires one,
    ///   and credentials are bound to it.
    package init?(_ challenge: Challenge, from host: String, mayHashBody: Bool) {
        guard challenge.isUsable, challenge.token68 == nil else { return nil }
        let named = challenge.bytes("realm")
        realm = challenge.scheme == "basic" ? named ?? Array(host.utf8) : named
        if let realm, realm.count > DigestChallenge.maximumLength { return nil }
        switch challenge.scheme {
        case "basic":
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

    /// The supported offers of a list, the strongest first; offers of equal strength stay in the server's order.
    package static func list(_ challenges: [Challenge], from host: String, mayHashBody: Bool) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { AuthenticationOffer($0, from: host, mayHashBody: mayHashBody) }
        return offers.enumerated()
            .sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element)
    }

    /// Why the session can answer none of the challenges in a field.
    package static func complaint(about challenges: [Challenge], in headers: HTTPHeaders, field: String) -> String {
        guard let value = headers.firstBytes(field) else { return "there is no \(field)" }
        guard !challenges.isEmpty else {
            return "\(field) cannot be read: \(EscapedText(String(decoding: value, as: UTF8.self)))"
        }
        let known = challenges.filter { ["basic", "bearer", "digest"].contains($0.scheme) }
        guard known.isEmpty else { return "the challenge of \(known[0].scheme) cannot be answered" }
        let schemes = challenges.map { EscapedText($0.scheme).text }.joined(separator: ", ")
        return "the session answers Basic, Digest and Bearer, and the challenge is \(schemes)"
    }

    /// How hard it is to learn the secret from the answer.
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

    /// Whether the session sends the secret itself.
    var sendsSecret: Bool { strength == 1 }

    package var method: String {
        switch scheme {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .bearer: NSURLAuthenticationMethodHTTPBearer
        case .digest: NSURLAuthenticationMethodHTTPDigest
        }
    }

    /// The methods under which a credential for this offer may be stored. A password that is stored for a method that
    /// shows it to the server may be used in one that does not.
    var methodsOfStorage: [String] {
        switch scheme {
        case .basic: [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodDefault]
        case .bearer: [NSURLAuthenticationMethodHTTPBearer]
        case .digest:
            [NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodDefault]
        }
    }

    /// Whether it is the same method in the same realm.
    package func isSame(as other: AuthenticationOffer) -> Bool {
        realm == other.realm && strength == other.strength && isBearer == other.isBearer
    }

    func fits(_ credential: URLCredential) -> Bool {
        isBearer ? credential.secretToken != nil : credential.secretPassword != nil
    }
}
