/// Limits and defaults of a `TestServer`. Its other name is `TestServer.Options`.
public struct TestServerOptions: Sendable, Hashable {
    /// How many bytes of one request's body the server keeps; it only counts the rest.
    public var storedBodyLimit = 16 * 1024 * 1024
    /// How many bytes of one connection the server keeps in `RecordedConnection.received`.
    public var storedTranscriptLimit = 256 * 1024
    /// Whether the server answers `Expect: 100-continue` with 100 before it reads the body.
    public var answersExpectContinue = true
    /// How many connections the server serves at a time, at most 4096. Further ones wait to be accepted.
    public var connectionLimit = 4096
    /// How many clients may wait to be accepted in the kernel's queue.
    public var backlog = 511

    /// The default options.
    public init() {}
}
