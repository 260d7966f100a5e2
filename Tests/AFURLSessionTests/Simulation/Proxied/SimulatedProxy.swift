/// How the sessions of a conversation reach their hosts.
enum SimulatedRoute: CaseIterable {
    case direct
    /// By a proxy for HTTP: requests are forwarded, and secured connections tunnelled.
    case http
    /// The same, for those who know its password.
    case httpWithLogin
    /// Everything is tunnelled.
    case tunnels
    case socks
    case socksWithLogin
    /// The proxy looks names up.
    case socksByName

    static let proxied = allCases.filter { $0 != .direct }
    static let host = "proxy.test"
    static let port: UInt16 = 3128
    /// `user:password`, and what Basic makes of it.
    private static let login = (plain: "user:canary-proxy", basic: "Basic dXNlcjpjYW5hcnktcHJveHk=")

    var isSOCKS: Bool { self == .socks || self == .socksWithLogin || self == .socksByName }
    private var wantsLogin: Bool { self == .httpWithLogin || self == .socksWithLogin }

    var proxies: ProxyConfiguration? {
        guard self != .direct else { return nil }
        let scheme = self == .socksByName ? "socks5h" : isSOCKS ? "socks5" : "http"
        let login = wantsLogin ? SimulatedRoute.login.plain + "@" : ""
        let url = "\(scheme)://\(login)\(SimulatedRoute.host):\(SimulatedRoute.port)"
        guard let server = try? ProxyServer(url) else { return nil }
        var proxies = ProxyConfiguration(server)
        proxies.tunnelsPlainHTTP = self == .tunnels
        return proxies
    }

    /// What a proxy finds wrong with a request for a tunnel, or for another server's answer.
    fileprivate func complaint(about login: String?) -> String? {
        if login == (wantsLogin ? SimulatedRoute.login.basic : nil) { return nil }
        return "O4 a proxy was told \(login ?? "no login")"
    }

    fileprivate var negotiation: any ProxyNegotiation {
        isSOCKS ? SOCKSNegotiation(login: wantsLogin ? SimulatedRoute.login.plain : nil) : TunnelNegotiation(self)
    }

    /// What comes with each request that a proxy is to forward.
    fileprivate var forwardedLogin: String? { wantsLogin ? SimulatedRoute.login.basic : nil }

    /// Whether a proxy sees requests, and not only bytes.
    fileprivate func forwards(isSecured: Bool) -> Bool { !isSecured && (self == .http || self == .httpWithLogin) }
}

extension Conversation {
    /// One whose sessions reach their hosts by a proxy of some kind.
    convenience init(proxied seed: UInt64, traced: Bool = false) {
        var random = SeededGenerator(seed: seed &* 3)
        self.init(
            seed: seed,
            isSecured: random.chance(50),
            by: random.pick(SimulatedRoute.proxied),
            traced: traced
        )
    }
}

/// The hosts of a conversation, and the proxy in front of them if there is one.
struct SimulatedHosts {
    private let route: SimulatedRoute
    private let isSecured: Bool
    private let book: ServerBook
    private unowned let world: VirtualWorld
    /// By name and by address.
    private var numbers: [String: Int] = [:]
    private var areOld: [Bool] = []

    init(_ route: SimulatedRoute, isSecured: Bool, _ book: ServerBook, in world: VirtualWorld) {
        self.route = route
        self.isSecured = isSecured
        self.book = book
        self.world = world
    }

    mutating func add(_ host: Int, _ addresses: [String], isOld: Bool) {
        for name in addresses + ["host\(host).test"] { numbers[name] = host }
        areOld.append(isOld)
    }

    func serve(port: UInt16) {
        for host in areOld.indices {
            world.serve("host\(host).test", port: port) { [route] in
                route == .direct ? program(of: host) : PassedBy()
            }
        }
        guard route != .direct else { return }
        world.host(SimulatedRoute.host, "198.51.100.1")
        world.serve(SimulatedRoute.host, port: SimulatedRoute.port) {
            route.forwards(isSecured: isSecured) ? forwarder() : SimulatedProxy(route, in: world) { host(named: $0) }
        }
    }

    private func host(named name: String) -> (any ServerProgram)? { numbers[name].map(program) }

    private func program(of host: Int) -> any ServerProgram {
        let server = SimulatedServer(book, host: host)
        let responder = HTTPResponder { server.answer($0, $1, $2) }
        guard isSecured else { return responder }
        return SecuredServer(responder, in: world, isOld: areOld[host]) ?? responder
    }

    private func forwarder() -> any ServerProgram {
        var servers: [Int: SimulatedServer] = [:]
        return HTTPResponder { [self] request, moment, client in
            let name = URL(string: request.target)?.host() ?? ""
            guard let host = numbers[name] else { return client.report("O4 a proxy was asked for \(request.target)") }
            let server = servers[host] ?? SimulatedServer(book, host: host, proxyLogin: route.forwardedLogin)
            servers[host] = server
            server.answer(request, moment, client)
        }
    }
}

/// A host that is there for a proxy only.
private final class PassedBy: ServerProgram {
    func connected(_ client: ServerEnd) { client.report("O4 a host was reached past the proxy") }
    func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {}
}

/// What a client has to say before it is led on.
private protocol ProxyNegotiation {
    mutating func read(_ input: inout [UInt8]) -> ProxyStep
    /// An answer that leads nowhere.
    func refusal(_ draw: (ClosedRange<Int>) -> Int) -> [UInt8]
}

private enum ProxyStep {
    case more
    /// Says something, and listens.
    case says([UInt8])
    /// Leads on to that host, and says so.
    case leads(to: String, [UInt8])
    case wrong(String)
}

/// A proxy of a simulation, which leads to all of its hosts and breaks down in every way.
final class SimulatedProxy: ServerProgram {
    typealias Hosts = (String) -> (any ServerProgram)?

    private let hosts: Hosts
    private let faults: Faults
    private var negotiation: any ProxyNegotiation
    private var input: [UInt8] = []
    private var destination: (any ServerProgram)?
    /// Nothing it says makes sense any more.
    private var isSilent = false

    init(_ route: SimulatedRoute, in world: VirtualWorld, hosts: @escaping Hosts) {
        self.hosts = hosts
        negotiation = route.negotiation
        faults = world.faults
    }

    func connected(_ client: ServerEnd) {
        guard faults.strikes(.proxySpeaksFirst) else { return }
        isSilent = true
        client.send(TunnelNegotiation.granted)
    }

    func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        if let destination { return destination.received(bytes, client) }
        input += bytes
        while !isSilent, destination == nil {
            switch negotiation.read(&input) {
            case .more: return
            case .wrong(let complaint): return client.report(complaint)
            case .says(let words): answer(words, client) {}
            case .leads(let host, let words):
                guard let program = hosts(host) else { return refuse(client, host) }
                answer(words, client) { [self] in lead(to: program, client) }
                return
            }
        }
    }

    /// Names are those of the conversation. Some of the addresses belong to no host.
    private func refuse(_ client: ServerEnd, _ host: String) {
        if host.hasSuffix(".test") { client.report("O4 a proxy was asked for \(host)") }
        client.send(SOCKSNegotiation.unreachable)
        end(client, .end)
    }

    private func lead(to program: any ServerProgram, _ client: ServerEnd) {
        if faults.strikes(.proxyResetsTunnel) { return end(client, .reset) }
        destination = program
        program.connected(client)
        let early = input
        input = []
        if !early.isEmpty { program.received(early[...], client) }
    }

    private func answer(_ words: [UInt8], _ client: ServerEnd, then: @escaping () -> Void) {
        if faults.strikes(.proxyStalls) { return isSilent = true }
        if faults.strikes(.proxyRefuses) {
            client.send(negotiation.refusal { self.faults.draw(.proxyRefuses, $0) })
            return end(client, .end)
        }
        if faults.strikes(.proxyGarbage) {
            isSilent = true
            return client.send(words.map { _ in UInt8(faults.draw(.proxyGarbage, 0...255)) })
        }
        if faults.strikes(.proxyEndsInAnswer) {
            client.send(Array(words.prefix(faults.draw(.proxyEndsInAnswer, 0...(words.count - 1)))))
            return end(client, .end)
        }
        if faults.strikes(.proxySlow) {
            client.connection.hold(faults.delay(.proxySlow, milliseconds: 1...500))
        }
        client.send(words)
        then()
    }

    private func end(_ client: ServerEnd, _ cut: FaultCut) {
        isSilent = true
        switch cut {
        case .reset: client.reset()
        case .end: client.close()
        }
    }

    func inputEnded(_ client: ServerEnd, reset: Bool) {
        if let destination { destination.inputEnded(client, reset: reset) } else { client.close() }
    }

    func outputEnded(_ client: ServerEnd) {
        if let destination { destination.outputEnded(client) } else { client.close() }
    }
}

// MARK: - CONNECT

private struct TunnelNegotiation: ProxyNegotiation {
    static let granted = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

    private let route: SimulatedRoute

    init(_ route: SimulatedRoute) {
        self.route = route
    }

    func read(_ input: inout [UInt8]) -> ProxyStep {
        guard let end = input.firstRange(of: Array("\r\n\r\n".utf8)) else { return .more }
        let lines = String(decoding: input[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        input.removeSubrange(..<end.upperBound)
        let words = lines[0].split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT" else { return .wrong("O4 a proxy was asked: \(lines[0])") }
        if lines.contains(where: { $0.hasPrefix("X-") }) { return .wrong("O4 a secret came to a proxy") }
        let prefix = "Proxy-Authorization: "
        let login = lines.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
        if let complaint = route.complaint(about: login.map(String.init)) { return .wrong(complaint) }
        return .leads(to: String(words[1].prefix { $0 != ":" }), TunnelNegotiation.granted)
    }

    func refusal(_ draw: (ClosedRange<Int>) -> Int) -> [UInt8] {
        let statuses = ["403 Forbidden", "502 Bad Gateway", "503 Service Unavailable", "500 Error", "302 Found"]
        let status = statuses[draw(0...(statuses.count - 1))]
        return Array("HTTP/1.1 \(status)\r\nLocation: http://stranger.test/\r\nContent-Length: 2\r\n\r\nno".utf8)
    }
}

// MARK: - SOCKS (RFC 1928, RFC 1929)

private struct SOCKSNegotiation: ProxyNegotiation {
    private enum Stage {
        case methods, login, request
    }

    static let unreachable: [UInt8] = [5, 4, 0, 1, 0, 0, 0, 0, 0, 0]

    private let login: String?
    private var stage = Stage.methods

    init(login: String?) {
        self.login = login
    }

    mutating func read(_ input: inout [UInt8]) -> ProxyStep {
        switch stage {
        case .methods: readMethods(&input)
        case .login: readLogin(&input)
        case .request: readRequest(&input)
        }
    }

    private mutating func readMethods(_ input: inout [UInt8]) -> ProxyStep {
        guard input.count >= 2, input.count >= 2 + Int(input[1]) else { return .more }
        let methods = input[2..<(2 + Int(input[1]))]
        guard input[0] == 5, methods.contains(login == nil ? 0 : 2) else { return .wrong("O4 no SOCKS: \(input)") }
        input.removeFirst(2 + methods.count)
        stage = login == nil ? .request : .login
        return .says([5, login == nil ? 0 : 2])
    }

    private mutating func readLogin(_ input: inout [UInt8]) -> ProxyStep {
        guard input.count >= 2, input.count >= 3 + Int(input[1]) else { return .more }
        let user = input[2..<(2 + Int(input[1]))]
        let length = Int(input[user.endIndex])
        guard input.count > user.endIndex + length else { return .more }
        let password = input[(user.endIndex + 1)..<(user.endIndex + 1 + length)]
        let told = String(decoding: user, as: UTF8.self) + ":" + String(decoding: password, as: UTF8.self)
        guard told == login else { return .wrong("O4 a proxy was told \(told)") }
        input.removeFirst(password.endIndex)
        stage = .request
        return .says([1, 0])
    }

    private func readRequest(_ input: inout [UInt8]) -> ProxyStep {
        guard input.count >= 5 else { return .more }
        let lengths: [UInt8: Int] = [1: 4, 3: 1 + Int(input[4]), 4: 16]
        guard input.prefix(3) == [5, 1, 0], let length = lengths[input[3]] else { return .wrong("no SOCKS: \(input)") }
        guard input.count >= 4 + length + 2 else { return .more }
        let address = Array(input[4..<(4 + length)])
        let host =
            switch input[3] {
            case 1: address.map { "\($0)" }.joined(separator: ".")
            case 3: String(decoding: address.dropFirst(), as: UTF8.self)
            default: SOCKSNegotiation.text(ofIPv6: address)
            }
        input.removeFirst(4 + length + 2)
        return .leads(to: host, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    /// All groups, none of them shortened.
    static func text(ofIPv6 address: [UInt8]) -> String {
        stride(from: 0, to: 16, by: 2)
            .map { String(Int(address[$0]) << 8 | Int(address[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }

    func refusal(_ draw: (ClosedRange<Int>) -> Int) -> [UInt8] {
        switch stage {
        case .methods, .login: [5, 0xFF]
        case .request: [5, UInt8(draw(1...9)), 0, 1, 0, 0, 0, 0, 0, 0]
        }
    }
}
