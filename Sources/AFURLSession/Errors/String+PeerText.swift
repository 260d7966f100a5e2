import AFWire

extension String {
    /// Text of a peer for a message: printable ASCII, at most 256 bytes.
    package var asPeerText: String { PeerText.escaped(utf8) }
}

extension Sequence<UInt8> {
    /// The same for bytes.
    package var asPeerText: String { PeerText.escaped(self) }
}
