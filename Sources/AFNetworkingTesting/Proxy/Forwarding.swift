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

    var meter: TrafficMeter { TrafficMeter(proxy, number: number, cut: behaviour.cut) }

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

/// Counts the bytes that are forwarded, and says when to cut.
final class TrafficMeter {
    private let proxy: ProxyCore
    private let number: Int
    private let cut: ProxyBehaviour.Cut?
    private var passed = 0

    init(_ proxy: ProxyCore, number: Int, cut: ProxyBehaviour.Cut?) {
        self.proxy = proxy
        self.number = number
        self.cut = cut
    }

    /// How many of `count` bytes may pass before the cut.
    func room(for count: Int, _ direction: ProxyBehaviour.Direction) -> Int {
        guard let cut, cut.direction == direction else { return count }
        return min(count, cut.count - passed)
    }

    func note(_ count: Int, _ direction: ProxyBehaviour.Direction) {
        if cut?.direction == direction { passed += count }
        if count > 0 { proxy.note(count, direction, of: number) }
    }

    /// The cut, once all bytes before it have passed.
    var dueAction: Delivery.Action? {
        guard let cut, passed >= cut.count else { return nil }
        return cut.action
    }
}
