package import AFWire

/// User name and password for a SOCKS proxy (RFC 1929).
package struct SOCKS5Login: Hashable, Sendable {
    package let user: [UInt8]
    package let password: [UInt8]

    /// Nil if one is too long to be sent, or the name is empty.
    package init?(user: String, password: String) {
        guard 1...255 ~= user.utf8.count, password.utf8.count <= 255 else { return nil }
        self.user = Array(user.utf8)
        self.password = Array(password.utf8)
    }
}

/// Asks a SOCKS 5 proxy for a tunnel (RFC 1928, RFC 1929).
///
/// ```
/// greeting ──▶ method 0 ─────────────────────────▶ request ──▶ reply 0: established
///          └─▶ method 2 ──▶ login ──▶ accepted ──▶
/// ```
package struct SOCKS5Exchange: TunnelExchange {
    private enum Stage {
        case greeting
        case login
        case request
        case over
    }

    private static let version: UInt8 = 5
    private static let loginVersion: UInt8 = 1

    private let destination: SOCKS5Destination
    private let port: UInt16
    private let login: SOCKS5Login?
    private var stage = Stage.greeting
    /// An answer that is not complete. The longest has 262 bytes.
    private var pending: [UInt8] = []

    package init(to destination: SOCKS5Destination, port: UInt16, login: SOCKS5Login?) {
        self.destination = destination
        self.port = port
        self.login = login
    }

    /// None: a SOCKS proxy does not answer in HTTP.
    package var answer: ResponseHead? { nil }

    package mutating func begin() -> [UInt8] {
        login == nil ? [SOCKS5Exchange.version, 1, 0] : [SOCKS5Exchange.version, 2, 0, 2]
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep {
        pending.append(contentsOf: bytes)
        let step = advance()
        switch step {
        case .failed, .established: stage = .over
        case .send, .needsMore: break
        }
        return step
    }

    private mutating func advance() -> TunnelStep {
        switch stage {
        case .over: .failed(.surplus)
        case .greeting: greeted()
        case .login: loggedIn()
        case .request: replied()
        }
    }

    private mutating func greeted() -> TunnelStep {
        // By its first byte: what speaks another protocol may never send a second.
        guard let version = pending.first else { return .needsMore }
        guard version == SOCKS5Exchange.version else { return .failed(.violation(explain(version))) }
        guard pending.count >= 2 else { return .needsMore }
        // A proxy answers one message at a time. The rest would pass for the answer to what we have not said yet.
        guard pending.count == 2 else { return .failed(.surplus) }
        let method = pending[1]
        switch (method, login) {
        // The login crosses the network in the clear (RFC 1929), so a proxy that can do without does not get it.
        case (0, _): return ask()
        case (2, let login?):
            pending = []
            stage = .login
            let user = [UInt8(login.user.count)] + login.user
            return .send([SOCKS5Exchange.loginVersion] + user + [UInt8(login.password.count)] + login.password)
        case (0xFF, _): return .failed(.noMethod(hasLogin: login != nil))
        default: return .failed(.violation("it chose the method \(method), which it was not offered"))
        }
    }

    private mutating func loggedIn() -> TunnelStep {
        guard let version = pending.first else { return .needsMore }
        guard version == SOCKS5Exchange.loginVersion else {
            return .failed(.violation("its answer to our login has the version \(version)"))
        }
        guard pending.count >= 2 else { return .needsMore }
        // The rejection before what may follow it: the login is what the program has to mend.
        guard pending[1] == 0 else { return .failed(.loginRejected) }
        return pending.count == 2 ? ask() : .failed(.surplus)
    }

    private mutating func ask() -> TunnelStep {
        pending = []
        stage = .request
        return .send([SOCKS5Exchange.version, 1, 0] + destination.bytes + [UInt8(port >> 8), UInt8(port & 255)])
    }

    /// The reply has the address of the proxy's own end, which is of no use.
    private func replied() -> TunnelStep {
        guard let version = pending.first else { return .needsMore }
        guard version == SOCKS5Exchange.version else { return .failed(.violation(explain(version))) }
        guard pending.count >= 2 else { return .needsMore }
        // A proxy that refuses closes soon (RFC 1928 §6): do not wait for an address that says nothing.
        guard pending[1] == 0 else { return .failed(.reply(SOCKS5Reply(pending[1]))) }
        // Up to the type of the address, and the byte behind it, which is the length of a name.
        guard pending.count >= 5 else { return .needsMore }
        let addressLength: Int
        switch pending[3] {
        case 1: addressLength = 4
        case 3: addressLength = 1 + Int(pending[4])
        case 4: addressLength = 16
        default: return .failed(.violation("its reply has an address of the unknown type \(pending[3])"))
        }
        let length = 4 + addressLength + 2
        if pending.count < length { return .needsMore }
        return .established(surplus: pending.count - length)
    }

    private func explain(_ version: UInt8) -> String {
        switch version {
        case 0, 4: "it speaks SOCKS 4"
        case UInt8(ascii: "H"): "it speaks HTTP"
        default: "its first byte is \(version), not the version 5"
        }
    }
}
