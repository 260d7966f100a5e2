import AFBase
import AFTLS
package import AFWire

/// The values that follow from one Digest challenge and one password: the key, and the nonces of both sides.
///
/// The password itself is not kept.
package final class DigestSession {
    package let challenge: DigestChallenge
    private let user: [UInt8]
    private let key: SecretBytes
    /// The uses of the server's nonce: the one of the challenge, until the server names the next one.
    package private(set) var uses: NonceUses
    /// The client's nonce.
    private var clientNonce: [UInt8]

    /// The server's nonce.
    package var nonce: [UInt8] { uses.nonce }

    /// - Parameters:
    ///   - challenge: The challenge to answer.
    ///   - user: The bytes of the name.
    ///   - password: The bytes of the password, of which only the key is kept.
    ///   - clientNonce: Text that cannot be guessed.
    ///   - uses: Those of the challenge's nonce.
    /// - Throws: if the user name cannot be sent.
    package init?(
        challenge: DigestChallenge,
        user: UnsafeRawBufferPointer,
        password: UnsafeRawBufferPointer,
        clientNonce: [UInt8],
        uses: NonceUses
    ) throws(RequestRejection) {
        if let control = user.firstIndex(where: ByteScanning.isForbiddenControl) {
            throw RequestRejection(.credentials, rule: .control, at: control)
        }
        guard
            let key = DigestSession.key(challenge, user: user, password: password, clientNonce: clientNonce),
            let digest = challenge.hashesUser ? challenge.algorithm.digest(Array(user), challenge.realm) : Array(user)
        else { return nil }
        self.challenge = challenge
        self.user = digest
        self.key = key
        self.clientNonce = clientNonce
        self.uses = uses
    }

    /// RFC 7616 §3.4.2: `H(A1)`.
    private static func key(
        _ challenge: DigestChallenge,
        user: UnsafeRawBufferPointer,
        password: UnsafeRawBufferPointer,
        clientNonce: [UInt8]
    ) -> SecretBytes? {
        guard let digest = MessageDigest(challenge.algorithm.function) else { return nil }
        let colon = [UInt8(ascii: ":")]
        digest.add(user)
        digest.add(colon)
        digest.add(challenge.realm)
        digest.add(colon)
        digest.add(password)
        guard let bytes = digest.finish() else { return nil }
        let key = DigestAlgorithm.hexadecimal(bytes)
        guard challenge.algorithm.isSession else { return SecretBytes(key) }
        return challenge.algorithm.digest(key, challenge.nonce, clientNonce).map(SecretBytes.init)
    }

    /// Takes over the next nonce that the server named (RFC 7616 §3.5). The key of a `-sess` algorithm stays.
    ///
    /// - Parameters:
    ///   - next: The uses of that nonce.
    ///   - clientNonce: Text that cannot be guessed.
    package func renew(_ next: NonceUses, clientNonce: [UInt8]) {
        uses = next
        self.clientNonce = clientNonce
    }

    /// The value of `Authorization` for one request. Each call counts as a use of the nonce.
    ///
    /// - Parameters:
    ///   - method: As it is sent.
    ///   - target: Exactly what stands in the request line.
    ///   - bodyDigest: In hexadecimal, for `auth-int`; nil means that there is no body.
    /// - Returns: Nil if the nonce was used four thousand million times, or OpenSSL failed.
    package func answer(method: [UInt8], target: [UInt8], bodyDigest: [UInt8]? = nil) -> DigestAnswer? {
        guard let body = bodyDigest ?? challenge.algorithm.digest([]), let count = uses.next() else { return nil }
        let use = DigestUse(nonce: nonce, clientNonce: clientNonce, count: count, target: target)
        guard let response = response(to: use, method: method, body: body),
            let field = field(use, response: response)
        else { return nil }
        return DigestAnswer(session: self, use: use, fieldValue: field)
    }

    /// RFC 7616 §3.4.1: `KD(H(A1), …:H(A2))`. Without a method it is the proof of the server (§3.5).
    fileprivate func response(to use: DigestUse, method: [UInt8], body: [UInt8]) -> [UInt8]? {
        let algorithm = challenge.algorithm
        switch challenge.quality {
        case .legacy:
            return algorithm.digest(method, use.target).flatMap { algorithm.digest(key, pieces: use.nonce, $0) }
        case .auth:
            return algorithm.digest(method, use.target)
                .flatMap {
                    algorithm.digest(key, pieces: use.nonce, use.countDigits, use.clientNonce, Array("auth".utf8), $0)
                }
        case .authInt:
            return algorithm.digest(method, use.target, body)
                .flatMap {
                    algorithm.digest(
                        key,
                        pieces: use.nonce,
                        use.countDigits,
                        use.clientNonce,
                        Array("auth-int".utf8),
                        $0
                    )
                }
        }
    }

    private func field(_ use: DigestUse, response: [UInt8]) -> [UInt8]? {
        var field = DigestField()
        // RFC 7616 §3.4.4: where the server knows UTF-8, names beyond ASCII are sent in their encoded form.
        if challenge.wantsUTF8, user.contains(where: { $0 >= 0x80 }) {
            let encoded = user.withUnsafeBytes { PercentEncoding.encode($0, allowed: .attribute) }
            field.add("username*", token: Array("UTF-8''".utf8) + encoded)
        } else {
            field.addQuoted("username", text: user)
        }
        field.addQuoted("realm", text: challenge.realm)
        field.addQuoted("uri", text: use.target)
        if challenge.namesAlgorithm { field.add("algorithm", token: Array(challenge.algorithm.name.utf8)) }
        field.addQuoted("nonce", text: use.nonce)
        if challenge.quality != .legacy {
            field.add("nc", token: use.countDigits)
            field.addQuoted("cnonce", text: use.clientNonce)
            field.add("qop", token: Array((challenge.quality == .auth ? "auth" : "auth-int").utf8))
        }
        field.addQuoted("response", text: response)
        if let opaque = challenge.opaque { field.addQuoted("opaque", text: opaque) }
        if challenge.hashesUser { field.add("userhash", token: Array("true".utf8)) }
        return field.value
    }
}

/// The values that one answer was computed from, besides the key.
package struct DigestUse: Sendable {
    let nonce: [UInt8]
    let clientNonce: [UInt8]
    let count: UInt32
    let target: [UInt8]

    /// Eight hexadecimal digits.
    var countDigits: [UInt8] {
        DigestAlgorithm.hexadecimal([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) })
    }
}

/// One answer to a Digest challenge.
package struct DigestAnswer {
    package let session: DigestSession
    package let use: DigestUse
    package let fieldValue: [UInt8]

    /// How the server proved that it knows the password (RFC 7616 §3.5).
    package enum Proof: Sendable, Hashable {
        /// The server gave no proof, or one that cannot be checked: with `auth-int`, it covers the server's body.
        case absent
        /// The server knows the password.
        case right
        /// The server does not know the password, or its answer was changed on the way.
        case wrong
    }

    /// Reads `Authentication-Info`.
    ///
    /// - Returns: How the server proved itself, and the nonce that it wants to be used next: nil if it names none, or its
    ///   proof is wrong.
    package func check(_ info: UnsafeRawBufferPointer) -> (proof: Proof, nextNonce: [UInt8]?) {
        guard let parameters = Challenge.parameters(of: info) else { return (.absent, nil) }
        func value(_ name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }
        let proof = proof(value("rspauth"), count: value("nc"), clientNonce: value("cnonce"))
        guard proof != .wrong, let next = value("nextnonce"), next != session.nonce, !next.isEmpty,
            next.count <= DigestChallenge.maximumLength
        else { return (proof, nil) }
        return (proof, next)
    }

    private func proof(_ claimed: [UInt8]?, count: [UInt8]?, clientNonce: [UInt8]?) -> Proof {
        guard let claimed, session.challenge.quality != .authInt else { return .absent }
        guard count ?? use.countDigits == use.countDigits, clientNonce ?? use.clientNonce == use.clientNonce,
            let expected = session.response(to: use, method: [], body: []),
            SecretBytes(claimed.map(ASCII.folded)) == SecretBytes(expected)
        else { return .wrong }
        return .right
    }
}

/// The parameters of one `Authorization` field while they are gathered.
private struct DigestField {
    private var bytes = Array("Digest ".utf8)
    private var isEmpty = true
    private var isGood = true

    /// Nil if a value cannot be sent.
    var value: [UInt8]? { isGood ? bytes : nil }

    mutating func add(_ name: StaticString, token: [UInt8]) {
        begin(name)
        bytes += token
    }

    mutating func addQuoted(_ name: StaticString, text: [UInt8]) {
        begin(name)
        isGood = QuotedText.append(text, to: &bytes) && isGood
    }

    private mutating func begin(_ name: StaticString) {
        if !isEmpty { bytes += Array(", ".utf8) }
        isEmpty = false
        bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "="))
    }
}
