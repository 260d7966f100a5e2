import AFNetworkingTesting

/// The client side of SOCKS 5.
struct SOCKSClient {
    enum Target {
        case name(String, UInt16)
        case ipv4([UInt8], UInt16)
        case ipv6([UInt8], UInt16)

        var bytes: [UInt8] {
            switch self {
            case .name(let name, let port): [3, UInt8(name.utf8.count)] + Array(name.utf8) + Self.bytes(port)
            case .ipv4(let address, let port): [1] + address + Self.bytes(port)
            case .ipv6(let address, let port): [4] + address + Self.bytes(port)
            }
        }

        private static func bytes(_ port: UInt16) -> [UInt8] { [UInt8(port >> 8), UInt8(port & 255)] }
    }

    let raw: RawClient

    init(_ proxy: TestProxy) throws {
        raw = try RawClient(proxy.server)
    }

    /// The method that the proxy chose.
    func greet(_ methods: [UInt8] = [0]) throws -> [UInt8] {
        try raw.send(bytes: [5, UInt8(methods.count)] + methods)
        return try read(2)
    }

    func logIn(_ user: String, _ password: String) throws -> [UInt8] {
        let (user, password) = (Array(user.utf8), Array(password.utf8))
        try raw.send(bytes: [1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
        return try read(2)
    }

    /// The proxy's answer: ten bytes.
    func ask(_ target: Target, command: UInt8 = 1) throws -> [UInt8] {
        try raw.send(bytes: [5, command, 0] + target.bytes)
        return try read(10)
    }

    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try raw.read(atMost: count - bytes.count)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}
