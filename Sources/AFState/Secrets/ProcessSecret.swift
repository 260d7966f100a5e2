import AFLoop

/// Random bytes that only this process has. What is computed with them from a secret says nothing to others, and nothing in
/// another process.
enum ProcessSecret {
    /// Nil if the system has no random numbers.
    static let bytes = try? SystemRandom.bytes(32)
}
