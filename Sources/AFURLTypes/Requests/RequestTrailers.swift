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
    public private(set) var names: [String]
    private let values: Values
    /// Names that this request must not send: it has been redirected to another origin.
    private var withheld: Set<String> = []

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
        let (make, withheld) = (values.make, withheld)
        guard !withheld.isEmpty else { return try TrailerSection(names: names, make: make) }
        return try TrailerSection(names: names) {
            make().filter { name, _ in !withheld.contains { HTTPText.isSameName($0, other: name) } }
        }
    }

    /// Those of them that another origin may have; nil if there are none.
    package func without(_ isSecret: (String) -> Bool) -> RequestTrailers? {
        var trailers = self
        trailers.withheld.formUnion(names.filter(isSecret))
        trailers.names.removeAll(where: isSecret)
        return trailers.names.isEmpty ? nil : trailers
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
