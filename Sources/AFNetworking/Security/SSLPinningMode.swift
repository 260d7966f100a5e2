/// What of a server's certificates is compared with the pinned ones.
public enum SSLPinningMode: UInt, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing: the authorities alone decide.
    case none = 0
    /// The public keys. A server may renew its certificate as long as it keeps the key.
    case publicKey = 1
    /// The certificates, byte for byte. The pinned ones become the only authorities.
    case certificate = 2
}
