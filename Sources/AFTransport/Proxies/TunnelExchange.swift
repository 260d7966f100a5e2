package import AFWire

/// A conversation with a proxy until there is a tunnel. Pure: bytes in, bytes out.
package protocol TunnelExchange {
    /// The bytes to send first.
    mutating func begin() -> [UInt8]
    /// Takes all that the proxy has sent.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep
    /// The head of what an HTTP proxy answered.
    var answer: ResponseHead? { get }
}

package enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// From here on everything comes from the other end.
    case established
    case failed(TunnelFailure)
}

/// Why there is no tunnel.
package enum TunnelFailure: Error, Sendable {
    /// An HTTP proxy said no, with this head. Its body is not the server's answer, and is not read.
    case refused(ResponseHead)
    /// What came is not HTTP, or too much of it.
    case malformed(HTTP1Error)
    /// What came is not SOCKS 5.
    case violation(String)
    /// A SOCKS proxy said no.
    case reply(SOCKS5Reply)
    /// A SOCKS proxy wants a login by a method that we do not have, or for which we have no credentials.
    case noMethod(hasLogin: Bool)
    /// A SOCKS proxy has rejected our login.
    case loginRejected
    /// The proxy sent more than its answer. The server at the other end has not been told anything yet, so it is
    /// nothing that the server could have said.
    case surplus
    /// The proxy closed the connection before there was a tunnel.
    case closed
    case broken(code: Int32)
}

/// The number by which a SOCKS 5 proxy says why there is no tunnel (RFC 1928 §6).
package struct SOCKS5Reply: Hashable, Sendable {
    package let code: UInt8

    package init(_ code: UInt8) {
        self.code = code
    }

    package var text: String {
        switch code {
        case 1: "general failure"
        case 2: "its rules do not allow the connection"
        case 3: "the network cannot be reached"
        case 4: "the host cannot be reached"
        case 5: "the connection was refused"
        case 6: "the time to live expired"
        case 7: "it does not know the command"
        case 8: "it does not know the type of address"
        default: "an unassigned reply"
        }
    }

    /// Whether another address of the same host may be reached.
    var concernsAddress: Bool { 3...6 ~= code || code == 8 }
}

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
