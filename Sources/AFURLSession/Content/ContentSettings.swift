import AFTransport

/// The settings of a session for coded bodies.
struct ContentSettings: Sendable {
    static let usualRatio = 250
    /// The highest ratio that can be set: a megabyte of zeros in ten bytes. Real content stays far below it.
    static let highestRatio = 100_000

    var decodes = true
    var maximumRatio = ContentSettings.usualRatio

    var limits: ContentDecoder.Limits {
        ContentDecoder.Limits(ratio: min(max(maximumRatio, 1), ContentSettings.highestRatio))
    }
}
