import AFWire
import Testing

/// One response on the wire, and what is to become of it.
struct WireRow: Sendable, CustomTestStringConvertible {
    let wire: String
    let expected: Expected

    enum Expected: Sendable, Equatable {
        /// Read to its end; the connection may serve another request.
        case reused(Int, String)
        /// Read to its end; the connection may not.
        case closed(Int, String)
        case refused(HTTP1Error.Kind)
    }

    init(_ wire: String, _ expected: Expected) {
        self.wire = wire
        self.expected = expected
    }

    var testDescription: String { wire.debugDescription }

    /// Checks the row in all four deliveries.
    func check(_ setting: ResponseSetting = ResponseSetting(), sourceLocation: SourceLocation = #_sourceLocation) {
        let outcome = setting.outcome(of: wire, sourceLocation: sourceLocation)
        let actual: Expected? =
            if let error = outcome.error {
                .refused(error)
            } else if let status = outcome.status, outcome.trailers != nil {
                outcome.mayReuse ? .reused(status, outcome.text) : .closed(status, outcome.text)
            } else {
                nil
            }
        #expect(actual == expected, "\(testDescription) gave \(outcome)", sourceLocation: sourceLocation)
    }
}
