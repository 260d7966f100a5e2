import AFWire

/// How an HTTP proxy is asked for a tunnel (RFC 9110 §9.3.6).
struct ConnectExchange: TunnelExchange {
    private static let limits: HTTP1Limits = {
        var limits = HTTP1Limits.standard
        limits.headBytes = 16 << 10
        limits.lineBytes = 16 << 10
        limits.taskHeadBytes = 16 << 10
        return limits
    }()

    private let request: [UInt8]
    private(set) var answer: ResponseHead?
    private var decoder = ResponseDecoder(method: .connect, limits: ConnectExchange.limits)

    init(to destination: Endpoint, by route: ProxyRoute) {
        let place = destination.text
        var text = "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n"
        if let authorization = route.authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        request = Array(text.utf8) + route.tunnelLines + Array("\r\n".utf8)
    }

    /// The fields that every such request has, checked.
    static func lines(
        of fields: [String: String],
        userAgent: String
    ) throws(ProxyConfigurationError) -> [UInt8] {
        var lines: [UInt8] = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            do throws(RequestRejection) {
                lines += try line(name, value)
            } catch {
                throw ProxyConfigurationError(.field, in: "tunnelFields")
            }
        }
        let hasAgent = fields.keys.contains { $0.withUTF8Bytes { ByteScanning.equalsIgnoringCase($0, "user-agent") } }
        return hasAgent ? lines : Array("User-Agent: \(userAgent)\r\n".utf8) + lines
    }

    private static func line(_ name: String, _ value: String) throws(RequestRejection) -> [UInt8] {
        try name.withUTF8Bytes { name throws(RequestRejection) in
            try value.withUTF8Bytes { value throws(RequestRejection) in
                try RequestSyntax.checkFieldName(name)
                let value = try RequestSyntax.trimmedFieldValue(value, of: name)
                // Who we are is said by the credentials of the proxy, and the rest by us.
                guard ReservedField.of(name) == nil else { throw RequestRejection(.fieldName, .notAllowed) }
                return Array(name) + Array(": ".utf8) + Array(value) + Array("\r\n".utf8)
            }
        }
    }

    mutating func begin() -> [UInt8] { request }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> TunnelStep {
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
