/// Bounds and habits of a `TestServer`, which calls them `TestServer.Options`.
public struct TestServerOptions: Sendable, Hashable {
    /// How many bytes of one request's body are kept; what is beyond is only counted.
    public var storedBodyLimit = 16 * 1024 * 1024
    /// How many bytes of what one connection received are kept in `RecordedConnection.received`.
    public var storedTranscriptLimit = 256 * 1024
    /// Whether `Expect: 100-continue` is answered with 100 when the body is about to be read.
    public var answersExpectContinue = true
    /// How many connections are served at a time, at most 4096. Further ones wait to be accepted.
    public var connectionLimit = 4096
    /// How many clients the kernel lets wait to be accepted.
    public var backlog = 511

    /// The usual options.
    public init() {}
}
