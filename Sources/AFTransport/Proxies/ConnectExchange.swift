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

    private let request: [UInt8]
    package private(set) var answer: ResponseHead?
    private var decoder = ResponseDecoder(method: .connect, limits: ConnectExchange.limits)

    package init(to destination: Endpoint, by route: ProxyRoute) {
        let place = destination.text
        var text = "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n"
        if let authorization = route.authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        request = Array(text.utf8) + route.agentLine + route.tunnelLines.bytes + Array("\r\n".utf8)
    }

    package mutating func begin() -> [UInt8] { request }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep {
        var rest = bytes
        while true {
            do throws(HTTP1Error) {
                let step = try decoder.decode(rest)
                rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                switch step.event {
                case .needMore: return .needsMore
                case .interim: continue
                case .head(let head): return conclude(head, hasSurplus: !rest.isEmpty)
                case .body, .end: return .failed(.surplus)
                }
            } catch {
                return .failed(.malformed(error))
            }
        }
    }

    /// A length or a coding in an answer that grants the tunnel means nothing (RFC 9110 §9.3.6).
    private mutating func conclude(_ head: ResponseHead, hasSurplus: Bool) -> TunnelStep {
        answer = head
        guard 200..<300 ~= head.status else { return .failed(.refused(head)) }
        return hasSurplus ? .failed(.surplus) : .established
    }
}
