package import AFWire
import Foundation

/// Header fields that a request sends behind its body: what is only known once the body has been read, as its digest.
///
/// ```swift
/// let length = RunningLength()
/// request.httpBodyStream = length.counting(content)
/// request.trailers = RequestTrailers("X-Length") { ["X-Length": "\(length.count)"] }
/// ```
///
/// The session announces the names in the field `Trailer`, and sends the body in chunks, also one whose length is known
/// (RFC 9110 §6.5). Many servers drop trailer fields: send nothing in them that the server has to have.
///
/// Names that say where a message ends, where it goes, who sends it or how to read it cannot be trailer fields: a request
/// with `Content-Length`, `Host`, `Authorization`, `Cookie`, `Content-Type`, `Range` and others like them fails before the
/// session connects. So does one without a body.
public struct RequestTrailers: Sendable {
    /// The names, in the order in which they are sent.
    public let names: [String]
    private let values: Values

    private final class Values: Sendable {
        let make: @Sendable () -> [String: String]

        init(_ make: @escaping @Sendable () -> [String: String]) {
            self.make = make
        }
    }

    /// Makes the trailer fields of a request.
    ///
    /// - Parameters:
    ///   - names: The names to announce.
    ///   - values: Called when the body has been read, on the network thread, each time that the session sends the body.
    ///   It must not block. A name that it leaves out is not sent; with one that was not announced, or a value with
    ///   control characters, the task fails, and the server does not get the end of the body.
    public init(_ names: String..., values: @escaping @Sendable () -> [String: String]) {
        self.init(names, values: values)
    }

    /// Makes the trailer fields of a request.
    public init(_ names: [String], values: @escaping @Sendable () -> [String: String]) {
        self.names = names
        self.values = Values(values)
    }

    package func section() throws(RequestRejection) -> TrailerSection {
        try TrailerSection(names: names, make: values.make)
    }

    /// Those that another origin may have under the policy; nil if there are none.
    package func leavingOrigin(_ policy: RedirectPolicy) -> RequestTrailers? {
        let kept = names.filter { !policy.withholds($0) }
        guard !kept.isEmpty, kept.count < names.count else { return kept.isEmpty ? nil : self }
        return RequestTrailers(kept) { [values] in values.make().filter { !policy.withholds($0.key) } }
    }
}

extension RequestTrailers: Hashable {
    /// Equal if they have the same names and the same closure.
    public static func == (one: RequestTrailers, other: RequestTrailers) -> Bool {
        one.names == other.names && one.values === other.values
    }

    /// Feeds the names into the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(names)
    }
}
