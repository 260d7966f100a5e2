import Glibc

/// One forwarding: its target, its behaviour, and the number of its record.
struct Forwarding {
    enum Result {
        case connected(Upstream)
        /// With the HTTP status, the reason, and the reply code of SOCKS.
        case refused(status: Int, reason: String, code: UInt8)
    }

    let proxy: ProxyCore
    let number: Int
    let target: ProxyTarget
    let behaviour: ProxyBehaviour

    var meter: TrafficMeter { TrafficMeter(proxy: proxy, number: number, cut: behaviour.cut) }

    func connect(for stream: SocketStream) throws(ConnectionEnd) -> Result {
        if let delay = behaviour.delay { try stream.pause(for: delay) }
        let name = "\(target.host):\(target.port)"
        switch proxy.destination(of: target) {
        case .forbidden:
            return .refused(status: 403, reason: "the proxy may not connect to \(name)", code: 2)
        case .unknown:
            return .refused(status: 502, reason: "the proxy does not know where \(name) is", code: 4)
        case .addresses(let addresses):
            var failure: Int32 = 0
            let timeout = proxy.rules.connectTimeout
            let upstream = try Upstream.connect(to: addresses, for: stream, timeout: timeout, failure: &failure)
            if let upstream { return .connected(upstream) }
            let reason = "the proxy cannot connect to \(name): \(SocketFailure(call: "connect", code: failure).text)"
            switch failure {
            case ECONNREFUSED, ENOENT: return .refused(status: 502, reason: reason, code: 5)
            case ETIMEDOUT: return .refused(status: 504, reason: reason, code: 6)
            case ENETUNREACH: return .refused(status: 502, reason: reason, code: 3)
            case EHOSTUNREACH: return .refused(status: 502, reason: reason, code: 4)
            default: return .refused(status: 502, reason: reason, code: 1)
            }
        }
    }
}
