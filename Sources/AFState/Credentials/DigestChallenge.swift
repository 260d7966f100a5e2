package import AFWire

/// A Digest challenge that the session can answer (RFC 7616 §3.3, and RFC 2069 where `qop` is missing).
package struct DigestChallenge: Sendable {
    /// What the answer protects.
    package enum Quality: Sendable {
        /// Method and target, without a count: RFC 2069.
        case legacy
        /// Method and target.
        case auth
        /// The body as well.
        case authInt
    }

    /// The longest realm, nonce and opaque value that the session sends back.
    package static let maximumLength = 4096

    package let algorithm: DigestAlgorithm
    /// The server has sent `algorithm`. Servers before RFC 2617 do not know it, so only a server that sent it is sent
    /// it.
    package let namesAlgorithm: Bool
    package let realm: [UInt8]
    package let nonce: [UInt8]
    package let opaque: [UInt8]?
    package let quality: Quality
    package let isStale: Bool
    package let hashesUser: Bool
    package let wantsUTF8: Bool
    /// The other URLs that the same answer is valid for: words of `domain`. Nil if the server does not say.
    package let domain: [[UInt8]]?

    /// Nil if the challenge is malformed, or asks for something the session cannot do: no part of it is guessed.
    ///
    /// - Parameter mayHashBody: Whether the session could read the body once more than it sends it. `auth-int` is
    ///   chosen only then, and only where the server offers nothing else.
    package init?(_ challenge: Challenge, mayHashBody: Bool) {
        guard challenge.scheme == "digest", challenge.isUsable,
            let realm = challenge.bytes("realm"), !realm.isEmpty, realm.count <= DigestChallenge.maximumLength,
            let nonce = challenge.bytes("nonce"), !nonce.isEmpty, nonce.count <= DigestChallenge.maximumLength,
            let quality = DigestChallenge.quality(challenge.bytes("qop"), mayHashBody: mayHashBody)
        else { return nil }
        let name = challenge.bytes("algorithm")
        guard let algorithm = name.map(DigestAlgorithm.init) ?? DigestAlgorithm(Array("MD5".utf8)) else { return nil }
        // RFC 2069 has no client nonce, and the key of a session is computed from one.
        if algorithm.isSession, quality == .legacy { return nil }
        opaque = challenge.bytes("opaque")
        if let opaque, opaque.count > DigestChallenge.maximumLength { return nil }
        self.algorithm = algorithm
        self.realm = realm
        self.nonce = nonce
        self.quality = quality
        namesAlgorithm = name != nil
        isStale = DigestChallenge.says("true", value: challenge.bytes("stale"))
        hashesUser = DigestChallenge.says("true", value: challenge.bytes("userhash"))
        wantsUTF8 = DigestChallenge.says("utf-8", value: challenge.bytes("charset"))
        // RFC 7616 §3.3: omitted or empty, it is the whole server.
        domain = challenge.bytes("domain").map { $0.split(separator: 0x20, maxSplits: 63).map(Array.init) }
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func says(_ word: StaticString, value: [UInt8]?) -> Bool {
        value?.withUnsafeBytes { ByteScanning.equalsIgnoringCase($0, lowercase: word) } ?? false
    }

    private static func quality(_ offered: [UInt8]?, mayHashBody: Bool) -> Quality? {
        guard let offered else { return .legacy }
        var (auth, integrity) = (false, false)
        offered.withUnsafeBytes { bytes in
            ByteScanning.forEachListElement(of: bytes) { option in
                if ByteScanning.equalsIgnoringCase(option, lowercase: "auth") { auth = true }
                if ByteScanning.equalsIgnoringCase(option, lowercase: "auth-int") { integrity = true }
            }
        }
        if auth { return .auth }
        return integrity && mayHashBody ? .authInt : nil
    }
}
