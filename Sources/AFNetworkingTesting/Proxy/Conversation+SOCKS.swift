/// SOCKS 5 as a proxy speaks it (RFC 1928, RFC 1929).
struct SOCKSService: ConnectionService {
    let proxy: ProxyCore

    func serve(_ conversation: Conversation) throws(ConnectionEnd) -> Never {
        try conversation.serveSOCKS(proxy)
    }
}

extension Conversation {
    fileprivate func serveSOCKS(_ proxy: ProxyCore) throws(ConnectionEnd) -> Never {
        let behaviour = proxy.takeBehaviour()
        let user = try greet(behaviour, authentication: proxy.rules.authentication)
        let request = try take(4)
        guard request[0] == 5 else { throw .scriptFailed("version \(request[0]) in place of SOCKS 5") }
        guard let target = try readTarget(kind: request[3]) else {
            try reply(8)
            throw .close
        }
        let record = RecordedForwarding(connection: connection, means: .socks5, target: target, user: user)
        let forwarding = Forwarding(proxy: proxy, number: proxy.open(record), target: target, behaviour: behaviour)
        defer { proxy.close(forwarding.number, as: .ended) }
        guard request[1] == 1 else {
            try refuse(forwarding, code: 7, because: "the command \(request[1]) is not CONNECT")
        }
        try carryOut(forwarding)
    }

    private func carryOut(_ forwarding: Forwarding) throws(ConnectionEnd) -> Never {
        switch forwarding.behaviour.action {
        case .answer: try refuse(forwarding, code: 1, because: "it was told to answer itself")
        case .refuse(let code): try refuse(forwarding, code: code, because: "it was told to refuse")
        case .raw(let bytes):
            forwarding.proxy.close(forwarding.number, as: .refused("it was told to"))
            try write(bytes)
            throw .close
        case .forward:
            switch try forwarding.connect(for: stream) {
            case .refused(_, let reason, let code): try refuse(forwarding, code: code, because: reason)
            case .connected(let upstream):
                try reply(0)
                try openTunnel(forwarding, to: upstream)
            }
        }
    }

    // MARK: - The greeting

    /// - Returns: The user, if the client gave one.
    private func greet(
        _ behaviour: ProxyBehaviour,
        authentication: ProxyRules.Authentication
    ) throws(ConnectionEnd) -> String? {
        let start = try take(2)
        guard start[0] == 5 else { throw .scriptFailed("version \(start[0]) in place of SOCKS 5") }
        let offered = try take(Int(start[1]))
        let wanted: UInt8 =
            switch authentication {
            case .none: 0
            case .password: 2
            case .digest: 255
            }
        let method = behaviour.method ?? (offered.contains(wanted) ? wanted : 255)
        try write([5, method])
        switch method {
        case 0: return nil
        case 2: return try checkPassword(authentication)
        default: throw .close
        }
    }

    private func checkPassword(_ authentication: ProxyRules.Authentication) throws(ConnectionEnd) -> String {
        let start = try take(2)
        guard start[0] == 1 else {
            throw .scriptFailed("version \(start[0]) of the password exchange, which has but 1")
        }
        let user = try take(Int(start[1]))
        let password = try take(Int(try take(1)[0]))
        if case .password(let rightUser, let rightPassword, _) = authentication {
            guard user.elementsEqual(rightUser.utf8), password.elementsEqual(rightPassword.utf8) else {
                try write([1, 1])
                throw .close
            }
        }
        try write([1, 0])
        return String(decoding: user, as: UTF8.self)
    }

    // MARK: - The request

    /// Nil for an unknown address type.
    private func readTarget(kind: UInt8) throws(ConnectionEnd) -> ProxyTarget? {
        let host: String
        switch kind {
        case 1: host = try take(4).map(String.init).joined(separator: ".")
        case 3: host = String(decoding: try take(Int(try take(1)[0])), as: UTF8.self)
        case 4: host = SocketEndpoint.text(ipv6: try take(16))
        default: return nil
        }
        let port = try take(2)
        return ProxyTarget(host: host, port: UInt16(port[0]) << 8 | UInt16(port[1]))
    }

    private func refuse(_ forwarding: Forwarding, code: UInt8, because reason: String) throws(ConnectionEnd) -> Never {
        forwarding.proxy.close(forwarding.number, as: .refused(reason))
        try reply(code)
        throw .close
    }

    /// The bound address of the reply is zeros, as many proxies send it.
    private func reply(_ code: UInt8) throws(ConnectionEnd) {
        try write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    // MARK: - Bytes

    private func take(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        let bytes = try reader.inspect(count)
        reader.dropInspected()
        guard bytes.count == count else { throw .clientClosed }
        return bytes
    }

    private func write(_ bytes: [UInt8]) throws(ConnectionEnd) {
        let stream = stream
        try bytes.withBytes { all throws(ConnectionEnd) in try stream.send(all) }
    }
}
