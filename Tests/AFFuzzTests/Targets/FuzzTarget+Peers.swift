import AFLoop
import AFWire

@testable import AFURLSession
@testable import AFURLTypes

extension FuzzTarget {
    /// Others that are not HTTP: proxies and the kernel.
    static let peers = [socks, socksLogin, connect, netlink]

    private static let socks = FuzzTarget("socks", seeds: [[1, 1, 5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80]]) { input in
        talk(input) { SOCKS5Exchange(to: .name(Array("a.test".utf8)), port: 80, login: nil) }
    }

    private static let socksLogin = FuzzTarget(
        "socks-login",
        seeds: [[0, 5, 2, 1, 0, 5, 0, 0, 3, 1, 0x61, 0, 80], [0, 5, 2, 1, 1]]
    ) { input in
        talk(input) {
            SOCKS5Exchange(to: .ipv4([127, 0, 0, 1]), port: 80, login: SOCKS5Login(user: "u", password: "p"))
        }
    }

    private static let connect = FuzzTarget("connect", "\u{0}HTTP/1.1 200 OK\r\n\r\n", "\u{0}HTTP/1.1 407 No\r\n\r\n") {
        input in
        let place = try Endpoint(scheme: .https, host: "a.test")
        let proxies = ProxyConfiguration(try ProxyServer("http://proxy.test:3128"))
        guard let route = try ProxySelection(proxies, agent: HTTPHeaders()).route(for: place) else { return }
        let (one, other) = talk(input) { ConnectExchange(to: place, by: route) }
        try expect(one == other, "cut in pieces it ends otherwise: \(one), and \(other)")
    }

    /// How a conversation ends if all is said at once, and if it is said in pieces. For SOCKS these are not the same:
    /// who answers what was not asked yet is not believed.
    @discardableResult
    private static func talk<Exchange: TunnelExchange>(
        _ input: [UInt8],
        _ make: () -> Exchange
    ) -> (whole: String, cut: String) {
        let (whole, pieces) = input.cutByItself
        func end(_ pieces: [[UInt8]]) -> String {
            var exchange = make()
            _ = exchange.begin()
            var count = 0
            for piece in pieces {
                count += piece.count
                switch piece.span.withUnsafeBytes({ exchange.receive($0) }) {
                case .needsMore, .send: continue
                // Behind the same byte, however much of what follows has come.
                case .established(let surplus): return "established behind \(count - surplus) bytes"
                // What is shown of a bad line is what there was of it.
                case .failed(.malformed(let error)): return "\(error.kind)"
                case .failed(let failure): return "\(failure)"
                }
            }
            return "more"
        }
        return (end([whole]), end(pieces))
    }

    private static let netlink = FuzzTarget(
        "netlink",
        seeds: [
            little(UInt32(40)) + little(UInt16(16)) + little(UInt16(0)) + little(UInt32(1)) + little(UInt32(0))
                + [0, 0] + little(UInt16(1)) + little(Int32(2)) + little(UInt32(0x11043)) + little(UInt32(0))
                + little(UInt16(8)) + little(UInt16(3)) + Array("eth\u{0}".utf8),
            little(UInt32(32)) + little(UInt16(20)) + little(UInt16(0)) + little(UInt32(1)) + little(UInt32(0))
                + [2, 24, 0x80, 0] + little(UInt32(2)) + little(UInt16(8)) + little(UInt16(2)) + [192, 0, 2, 1],
        ]
    ) { input in
        for message in NetlinkDatagram(input[...]).messages {
            _ = LinkMessage(message)
            _ = AddressMessage(message)
            _ = NetlinkAttributes(message.payload)
        }
    }
}
