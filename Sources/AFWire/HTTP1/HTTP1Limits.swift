/// How much a peer may send before we stop listening.
///
/// Every value can be changed; none can be set past its ceiling, because a limit
/// that can be switched off is switched off somewhere.
package struct HTTP1Limits: Sendable, Equatable {
    package static let standard = HTTP1Limits()

    /// Bytes of one head, from the start line to the empty line.
    package var headBytes = 128 << 10 { didSet { headBytes = Self.clamp(headBytes, to: 16 << 20) } }

    /// Fields in one head.
    package var headFields = 1_000 { didSet { headFields = Self.clamp(headFields, to: 100_000) } }

    /// Bytes of one line of a head, without its line end.
    package var lineBytes = 64 << 10 { didSet { lineBytes = Self.clamp(lineBytes, to: 16 << 20) } }

    /// Bytes of all heads one task may receive: interim responses, redirects and authentication rounds together.
    package var taskHeadBytes = 1 << 20 { didSet { taskHeadBytes = Self.clamp(taskHeadBytes, to: 64 << 20) } }

    /// Interim responses to one request.
    package var interimResponses = 16 { didSet { interimResponses = Self.clamp(interimResponses, to: 1_000) } }

    /// Digits in a chunk size. Sixteen is as many as 64 bits can hold.
    package var chunkSizeDigits = 16 { didSet { chunkSizeDigits = Self.clamp(chunkSizeDigits, to: 16) } }

    /// Bytes of all chunk extensions of one body.
    package var chunkExtensionBytes = 16 << 10 {
        didSet { chunkExtensionBytes = Self.clamp(chunkExtensionBytes, to: 1 << 20) }
    }

    /// Bytes of the trailer section.
    package var trailerBytes = 16 << 10 { didSet { trailerBytes = Self.clamp(trailerBytes, to: 1 << 20) } }

    /// Fields in the trailer section.
    package var trailerFields = 100 { didSet { trailerFields = Self.clamp(trailerFields, to: 10_000) } }

    package init() {}

    private static func clamp(_ value: Int, to ceiling: Int) -> Int { min(max(value, 0), ceiling) }
}
