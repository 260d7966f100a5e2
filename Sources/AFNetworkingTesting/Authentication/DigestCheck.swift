/// Checks one response to a Digest challenge.
struct DigestCheck {
    enum Verdict: Equatable {
        /// The credentials are good. The parameters for `Authentication-Info` prove that the server knows the password.
        case accepted(proof: String)
        /// The credentials are refused; the text says why.
        case refused(String, isStale: Bool)
    }

    let rules: DigestRules
    let nonces: NonceStore
    let method: String
    let target: String
    let body: [UInt8]

    /// - Parameters:
    ///   - field: The value of `Authorization` or `Proxy-Authorization`.
    ///   - answer: The body of the reply if the credentials are good.
    func verdict(on field: String?, answer: [UInt8]) -> Verdict {
        guard let field else { return .refused("there are no credentials", isStale: false) }
        let scheme = field.utf8.prefix { !$0.isBlank }
        guard String(decoding: scheme, as: UTF8.self).equalsIgnoringCase("Digest") else {
            return .refused("the scheme is not Digest", isStale: false)
        }
        let given = FieldParameters(field.utf8.dropFirst(scheme.count), separator: UInt8(ascii: ","))
        if let fault = fault(in: given) { return .refused(fault, isStale: false) }
        guard let nonce = given["nonce"], let response = given["response"] else {
            return .refused("nonce or response is missing", isStale: false)
        }
        guard response == self.response(given, A2: method + ":" + target, body: body) else {
            return .refused("the response is wrong", isStale: false)
        }
        let count = given["nc"].flatMap { UInt32($0, radix: 16) }
        switch nonces.use(nonce, count: rules.qualities.isEmpty ? nil : count, limit: rules.usesPerNonce) {
        case .fresh: return .accepted(proof: proof(given, answer: answer))
        case .stale: return .refused("the nonce is used up", isStale: true)
        case .unknown: return .refused("the nonce is not one of ours", isStale: true)
        case .repeated: return .refused("the nonce was used with this count before", isStale: false)
        }
    }

    // MARK: - The parameters

    private func fault(in given: FieldParameters) -> String? {
        if given["username"] != rules.user { return "the user is another" }
        if given["realm"] != rules.realm { return "the realm is another" }
        if given["opaque"] != DigestRules.opaque { return "opaque is not what was given" }
        if given["uri"] != target { return "uri is not the target of the request" }
        if !isOurs(given["algorithm"]) { return "the algorithm is another" }
        guard !rules.qualities.isEmpty else { return given["qop"] == nil ? nil : "qop was not offered" }
        guard let quality = given["qop"].flatMap(DigestRules.Quality.init), rules.qualities.contains(quality) else {
            return "qop is missing or was not offered"
        }
        guard given["cnonce"]?.isEmpty == false else { return "cnonce is missing" }
        guard let nc = given["nc"], nc.utf8.count == 8, let count = UInt32(nc, radix: 16), count > 0 else {
            return "nc is not a count of eight digits"
        }
        return nil
    }

    /// A client may leave out the algorithm if it is MD5: RFC 2069 has no parameter for it.
    private func isOurs(_ name: String?) -> Bool {
        guard let name else { return rules.algorithm == .md5 }
        return DigestRules.Algorithm(named: name) == rules.algorithm
    }

    // MARK: - The response

    private func hash(_ text: String) -> String { HashFunctions.hex(rules.hashName, of: Array(text.utf8)) }

    private func response(_ given: FieldParameters, A2: String, body: [UInt8]) -> String {
        let (nonce, cnonce) = (given["nonce"] ?? "", given["cnonce"] ?? "")
        var secret = hash("\(rules.user):\(rules.realm):\(rules.password)")
        if rules.isForSession { secret = hash("\(secret):\(nonce):\(cnonce)") }
        let quality = given["qop"]
        let coversBody = quality == DigestRules.Quality.body.rawValue
        let request = hash(coversBody ? A2 + ":" + HashFunctions.hex(rules.hashName, of: body) : A2)
        guard let quality else { return hash("\(secret):\(nonce):\(request)") }
        return hash("\(secret):\(nonce):\(given["nc"] ?? ""):\(cnonce):\(quality):\(request)")
    }

    private func proof(_ given: FieldParameters, answer: [UInt8]) -> String {
        var parts = ["rspauth=\"\(response(given, A2: ":" + target, body: answer))\""]
        if let quality = given["qop"] {
            parts += [
                "qop=\(quality)", "cnonce=\(DigestRules.quoted(given["cnonce"] ?? ""))", "nc=\(given["nc"] ?? "")",
            ]
        }
        if rules.givesNextNonce { parts.append("nextnonce=\"\(nonces.make())\"") }
        return parts.joined(separator: ", ")
    }
}
