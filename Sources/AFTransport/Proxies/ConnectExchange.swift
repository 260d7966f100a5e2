package import AFWire

/// Asks an HTTP proxy for a tunnel (RFC 9110 §9.3.6).
package struct ConnectExchange: TunnelExchange {
    private static let limits: HTTP1Limits = {
        var limits = HTTP1Limits.standard
        limits.headBytes = 16 << 10
        limits.lineBytes = 16 << 10
        limits.taskHeadBytes = 16 << 10
        return limits
    }()

    private let place: Endpoint
    private var fields = HTTPHeaders()
    package private(set) var answer: ResponseHead?
    private var decoder = ResponseDecoder(method: .connect, limits: ConnectExchange.limits)

    package init(to destination: Endpoint, by route: ProxyRoute) {
        place = destination
        if let authorization = route.authorization { fields.append("Proxy-Authorization", value: authorization) }
        fields.append(contentsOf: route.agent)
        fields.append(contentsOf: route.proxy.tunnelFields.fields)
    }

    package mutating func begin() -> [UInt8] {
        var request: [UInt8] = []
        HeadWriter.appendConnect(to: place, fields: fields, to: &request)
        return request
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep {
        var rest = bytes
        while true {
            do throws(HTTP1Error) {
                let step = try decoder.decode(rest)
                rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                switch step.event {
                case .needMore: return .needsMore
                case .interim: continue
                case .head(let head): return conclude(head, surplus: rest.count)
                case .body, .end: return .failed(.surplus)
                }
            } catch {
                return .failed(.malformed(error))
            }
        }
    }

    /// A length or a coding in an answer that grants the tunnel means nothing (RFC 9110 §9.3.6).
    private mutating func conclude(_ head: ResponseHead, surplus: Int) -> TunnelStep {
        answer = head
        guard 200..<300 ~= head.status else { return .failed(.refused(head)) }
        return .established(surplus: surplus)
    }
}
