import AFTransport

/// How far a session goes along with coded bodies.
struct ContentSettings: Sendable {
    static let usualRatio = 250
    /// Nothing that is no bomb comes near it: a megabyte of zeros in ten bytes.
    static let highestRatio = 100_000

    var decodes = true
    var maximumRatio = ContentSettings.usualRatio

    var limits: ContentDecoder.Limits {
        ContentDecoder.Limits(ratio: min(max(maximumRatio, 1), ContentSettings.highestRatio))
    }
}
