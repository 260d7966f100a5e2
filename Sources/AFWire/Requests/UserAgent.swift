/// A `User-Agent` product from a program's name.
package enum UserAgent {
    /// `name/1`, with every byte that may not stand in a token dropped. Program names come from outside: they may
    /// hold line breaks or emoji. Falls back to `AFNetworking/1` when nothing is left.
    package static func product(programName: String) -> String {
        let token = ASCIISet.token
        let kept = programName.utf8.lazy.filter(token.contains).prefix(64)
        let name = String(decoding: Array(kept), as: UTF8.self)
        return name.isEmpty ? "AFNetworking/1" : "\(name)/1"
    }
}
