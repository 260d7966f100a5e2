import AFWire

/// The origins that take no coded bodies, as far as a session knows.
final class BodyCodingRefusals {
    private static let limit = 256

    private var origins: Set<Endpoint> = []

    func note(_ origin: Endpoint) {
        if origins.count == BodyCodingRefusals.limit { origins.removeAll() }
        origins.insert(origin)
    }

    func contains(_ origin: Endpoint) -> Bool { origins.contains(origin) }
}
