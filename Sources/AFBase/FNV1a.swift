/// FNV-1a, 64 bits: it detects accidental changes of files that no other user can write. It is no protection against an
/// attacker.
public enum FNV1a {
    /// The digest of the bytes.
    @inlinable
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
