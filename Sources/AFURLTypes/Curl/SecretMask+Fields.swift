import AFBase
import AFState

/// Fields whose names are no secrets, and whose values may have some in them.
extension SecretMask {
    // MARK: - URLs in other text

    /// Text with the URLs in it as ``url(_:)-(String)`` shows them, as far as the text around them leaves no doubt about
    /// where they end: `<https://a.test/?page=2>; rel="next"`.
    func text(_ value: String) -> String {
        let bounds: Set<Unicode.Scalar> = [" ", "\t", "\"", "<", ">"]
        guard value.unicodeScalars.contains(where: { ["?", "@", "#"].contains($0) }) else { return value }
        var (output, run) = ("", Substring.UnicodeScalarView())
        for scalar in value.unicodeScalars {
            if bounds.contains(scalar) {
                output += reference(Substring(run))
                output.unicodeScalars.append(scalar)
                run = Substring.UnicodeScalarView()
            } else {
                run.append(scalar)
            }
        }
        return output + reference(Substring(run))
    }

    /// A word that may be a URL, or have one at its end.
    private func reference(_ word: Substring) -> String {
        let parts = SecretMask.parts(of: withoutUserInfo(word.unicodeScalars)[...], between: "#")
        // The fragment of a redirect may hold a token.
        let fragments = parts.dropFirst().map(query)
        guard let (path, items) = SecretMask.halves(of: parts[0], around: "?") else {
            return ([String(parts[0])] + fragments).joined(separator: "#")
        }
        return (["\(path)?\(query(items))"] + fragments).joined(separator: "#")
    }

    private func withoutUserInfo(_ word: Substring.UnicodeScalarView) -> String {
        let scalars = Array(word)
        var (output, place) = (String.UnicodeScalarView(), 0)
        while place < scalars.count {
            output.append(scalars[place])
            place += 1
            // What is behind two slashes is an authority only where a URL begins.
            guard place >= 2, scalars[place - 1] == "/", scalars[place - 2] == "/",
                place == 2 || [":", "=", ",", ";", "'", "("].contains(scalars[place - 3])
            else { continue }
            let end = scalars[place...].firstIndex { ["/", "?", "#"].contains($0) } ?? scalars.count
            if let at = scalars[place..<end].lastIndex(where: { $0 == "@" }) { place = at + 1 }
        }
        return String(output)
    }

    // MARK: - Names and tokens

    /// Keeps the names of parameters, and the values of those that only name an algorithm.
    func parameters(_ value: String) -> String {
        var (parts, isQuoted) = ([""], false)
        for scalar in value.unicodeScalars {
            if scalar == "\"" { isQuoted.toggle() }
            if scalar == ",", !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts.map { part in
            guard let (name, _) = SecretMask.halves(of: part[...], around: "=") else { return SecretMask.cover }
            let bare = ASCII.lowered(String(name.drop { $0 == " " || $0 == "\t" }))
            return ["qop", "nc", "algorithm"].contains(bare) ? part : "\(name)=\(SecretMask.cover)"
        }.joined(separator: ",")
    }

    /// Some servers take a token as a subprotocol, because a page in a browser can set no field of the handshake. So a
    /// name is covered if it says that it is a secret, if the one before it says so, or if it is too long for a name.
    func subprotocols(_ value: String) -> String {
        var isAnnounced = false
        return SecretMask.parts(of: value[...], between: ",").map { part in
            let blanks = part.prefix { $0 == " " || $0 == "\t" }
            let name = part.dropFirst(blanks.count)
            let isSecret = SecretNames.containsItem(String(name))
            defer { isAnnounced = isSecret }
            return isSecret || isAnnounced || name.utf8.count > 32 ? "\(blanks)\(SecretMask.cover)" : String(part)
        }.joined(separator: ",")
    }
}
