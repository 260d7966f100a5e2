public import AFURLTypes
import Foundation

/// How a file is loaded in parts: ``URLSession/download(for:to:inParts:progress:delegate:)``.
public struct DownloadParts: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The most requests that run at a time. There are no more than a host may have connections
    /// (``URLSessionConfiguration/httpMaximumConnectionsPerHost``).
    public var count: Int
    /// No request asks for fewer bytes than this, unless fewer are missing. 1 MiB unless you set it.
    public var smallestSize: Int64 = 1 << 20
    /// What the file must add up to. Nil: what the server says in `Repr-Digest` (RFC 9530), if it does.
    public var digest: FileDigest?

    /// At most so many parts at a time.
    public init(_ count: Int, digest: FileDigest? = nil) {
        (self.count, self.digest) = (count, digest)
    }

    /// At most so many parts at a time.
    public init(integerLiteral count: Int) {
        self.init(count)
    }
}
