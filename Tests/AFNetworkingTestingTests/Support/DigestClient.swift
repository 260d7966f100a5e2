import CAFOpenSSL
import Foundation

/// The client side of Digest authentication, which shares no code with the library.
struct DigestClient {
    struct NoDigest: Error {}

    var parameters: [String: String] = [:]
    var user: String
    var password: String
    var cnonce = "0a4f113b"
    var count = 0

    init(_ challenge: String, user: String, password: String) throws {
        guard challenge.hasPrefix("Digest ") else { throw NoDigest() }
        self.init(parsing: challenge, user: user, password: password)
    }

    init(parsing text: String, user: String, password: String) {
        (self.user, self.password) = (user, password)
        for match in text.matches(of: /([A-Za-z]+)=(?:"([^"]*)"|([^",\s]+))/) {
            parameters[String(match.1)] = String(match.2 ?? match.3 ?? "")
        }
    }

    mutating func use(nonce: String) {
        parameters["nonce"] = nonce
        count = 0
    }

    /// The value of `Authorization`.
    mutating func answer(_ method: String, _ target: String, _ quality: String?, body: String = "") -> String {
        count += 1
        let response = response("\(method):\(target)", quality, body)
        var text = "Digest username=\"\(user)\", realm=\"\(value("realm"))\", nonce=\"\(value("nonce"))\", "
        text += "uri=\"\(target)\", response=\"\(response)\", opaque=\"\(value("opaque"))\", "
        text += "algorithm=\(value("algorithm"))"
        if let quality { text += ", qop=\(quality), nc=\(nc), cnonce=\"\(cnonce)\"" }
        return text
    }

    /// The expected `rspauth`.
    func proof(_ target: String, _ quality: String?, body: String) -> String { response(":\(target)", quality, body) }

    private var nc: String { String(format: "%08x", count) }

    private func value(_ name: String) -> String { parameters[name] ?? "" }

    private func response(_ request: String, _ quality: String?, _ body: String) -> String {
        var secret = hash("\(user):\(value("realm")):\(password)")
        if value("algorithm").hasSuffix("-sess") { secret = hash("\(secret):\(value("nonce")):\(cnonce)") }
        let what = hash(quality == "auth-int" ? "\(request):\(hash(body))" : request)
        guard let quality else { return hash("\(secret):\(value("nonce")):\(what)") }
        return hash("\(secret):\(value("nonce")):\(nc):\(cnonce):\(quality):\(what)")
    }

    private func hash(_ text: String) -> String {
        let names = ["SHA-256": "SHA256", "SHA-512-256": "SHA512-256"]
        let algorithm = value("algorithm").replacingOccurrences(of: "-sess", with: "")
        var digest = [UInt8](repeating: 0, count: 64)
        var count: UInt32 = 0
        let bytes = Array(text.utf8)
        EVP_Digest(bytes, bytes.count, &digest, &count, EVP_get_digestbyname(names[algorithm] ?? "MD5"), nil)
        return digest.prefix(Int(count)).map { String(format: "%02x", $0) }.joined()
    }
}
