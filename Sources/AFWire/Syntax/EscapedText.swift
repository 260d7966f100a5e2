/// Text from a peer or a caller, made safe to print: printable ASCII only, at most 256 bytes.
///
/// Carrying it as a type of its own shows that it went through ``PeerText``; `description` puts it in quotation
/// marks, so that a reader sees where the foreign text begins and ends.
package struct EscapedText: Hashable, Sendable, CustomStringConvertible {
    /// The escaped text without quotation marks.
    package let text: String

    package init(_ bytes: some Sequence<UInt8>) {
        text = PeerText.escaped(bytes)
    }

    package init(_ string: String) {
        self.init(string.utf8)
    }

    package var description: String { "\"\(text)\"" }
}
