public struct ClientIdentity: Hashable, Sendable {
    public let certificates: [Certificate]
    package var key: OpaquePointer { certificates[0].handle }
    package var fingerprint: [UInt8] { [] }
    package func mayBeShown(to: PeerName) -> Bool { true }
}
