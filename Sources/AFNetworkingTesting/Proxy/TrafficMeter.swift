import Glibc

/// Counts the bytes that are forwarded, and says when to cut.
final class TrafficMeter {
    private let proxy: ProxyCore
    private let number: Int
    private let cut: ProxyBehaviour.Cut?
    private var passed = 0

    init(proxy: ProxyCore, number: Int, cut: ProxyBehaviour.Cut?) {
        self.proxy = proxy
        self.number = number
        self.cut = cut
    }

    /// How many of `count` bytes may pass before the cut.
    func room(for count: Int, direction: ProxyBehaviour.Direction) -> Int {
        guard let cut, cut.direction == direction else { return count }
        return min(count, cut.count - passed)
    }

    func note(_ count: Int, direction: ProxyBehaviour.Direction) {
        if cut?.direction == direction { passed += count }
        if count > 0 { proxy.note(count, direction: direction, of: number) }
    }

    /// The cut, once all bytes before it have passed.
    var dueAction: Delivery.Action? {
        guard let cut, passed >= cut.count else { return nil }
        return cut.action
    }
}
