import Glibc

/// One forwarding: to whom, how, and where it is recorded.
struct Errand {
    enum Result {
        case connected(Upstream)
        /// With what HTTP and SOCKS say about it.
        case refused(status: Int, reason: String, code: UInt8)
    }

    let proxy: ProxyCore
    let number: Int
    let target: ProxyTarget
    let behaviour: ProxyBehaviour

    var meter: TrafficMeter { TrafficMeter(proxy, number: number, cut: behaviour.cut) }

    func connect(for stream: SocketStream) throws(Farewell) -> Result {
        if let delay = behaviour.delay { try stream.pause(for: delay) }
        let name = "\(target.host):\(target.port)"
        switch proxy.route(to: target) {
        case .forbidden:
            return .refused(status: 403, reason: "the proxy may not connect to \(name)", code: 2)
        case .unknown:
            return .refused(status: 502, reason: "the proxy does not know where \(name) is", code: 4)
        case .addresses(let addresses):
            var failure: Int32 = 0
            let timeout = proxy.rules.connectTimeout
            let upstream = try Upstream.connect(to: addresses, for: stream, timeout: timeout, failure: &failure)
            if let upstream { return .connected(upstream) }
            let reason = "the proxy cannot connect to \(name): \(SystemFailure(call: "connect", code: failure).text)"
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
