package import AFURLSession

/// The value of one `--pin`.
package enum PinOption: Sendable, Equatable {
    /// Digests of public keys, of which one must match.
    case keys([PublicKeyPin])
    /// A file with a public key or a certificate.
    case file(String)

    init(_ text: String, of name: String) throws(ArgumentError) {
        guard text.hasPrefix("sha256/") else {
            if text.isEmpty { throw .badArgument("\(name) needs sha256//BASE64 or a file") }
            self = .file(text)
            return
        }
        var keys: [PublicKeyPin] = []
        for part in text.split(separator: ";") {
            guard let pin = PublicKeyPin(String(part)) else {
                throw .badArgument(
                    "\(name) cannot use \"\(part)\": a pin is sha256// and the 44 characters of base64 that the "
                        + "SHA-256 of a public key has; afnet pins HOST shows them"
                )
            }
            keys.append(pin)
        }
        self = .keys(keys)
    }
}
