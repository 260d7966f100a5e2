extension ScriptStep {
    /// What a step does to TLS rather than through it.
    enum TLSAction: Sendable {
        case handshake(ServerTLS?)
        case announceEnd
        case updateKeys(count: Int, asksBack: Bool)
        case sendTickets(Int)
        case renegotiate
        case requestCertificate
        case sendRecords([UInt8], size: Int)
        case sendRecord(type: UInt8, [UInt8])
        case sendOnWire([UInt8])
    }

    // MARK: Beginning

    /// Makes the TLS handshake here; the steps before it exchange plain bytes.
    ///
    /// Without this step a server that speaks TLS makes the handshake before the first step.
    public static var handshake: ScriptStep { ScriptStep(kind: .tls(.handshake(nil))) }

    /// Makes a TLS handshake here, also on a server that does not speak TLS: a proxy, for instance.
    ///
    /// ```swift
    /// proxy.script(
    ///     .expectHead,
    ///     .send("HTTP/1.1 200 OK\r\n\r\n"),
    ///     .handshake(ServerTLS(site)),
    ///     .serve
    /// )
    /// ```
    public static func handshake(_ tls: ServerTLS) -> ScriptStep { ScriptStep(kind: .tls(.handshake(tls))) }

    // MARK: Misbehaving once TLS is established

    /// Asks for new keys so many times in a row (KeyUpdate, TLS 1.3).
    ///
    /// - Parameters:
    ///   - count: How many times.
    ///   - asksBack: Whether the client must change its keys too, each time.
    public static func updateKeys(_ count: Int = 1, asksBack: Bool = false) -> ScriptStep {
        ScriptStep(kind: .tls(.updateKeys(count: max(count, 0), asksBack: asksBack)))
    }

    /// Sends so many session tickets (TLS 1.3).
    public static func sendTickets(_ count: Int) -> ScriptStep { ScriptStep(kind: .tls(.sendTickets(max(count, 0)))) }

    /// Asks for a new handshake (HelloRequest, TLS 1.2).
    public static var renegotiate: ScriptStep { ScriptStep(kind: .tls(.renegotiate)) }

    /// Asks for a certificate after the handshake (TLS 1.3), whether the client said it would answer or not.
    public static var requestCertificate: ScriptStep { ScriptStep(kind: .tls(.requestCertificate)) }

    /// Sends an alert, encrypted as it should be (TLS 1.3, or 1.2 with AES-GCM).
    ///
    /// - Parameters:
    ///   - number: Which, for instance 80 for internal_error.
    ///   - isFatal: Whether it is marked as the end, or as a warning.
    public static func sendAlert(_ number: UInt8, isFatal: Bool = true) -> ScriptStep {
        sendRecord(type: 21, bytes: [isFatal ? 2 : 1, number])
    }

    /// Sends one record of any type with any content, encrypted as it should be (TLS 1.3, or 1.2
    /// with AES-GCM): 21 is an alert, 22 a handshake message, 23 data.
    public static func sendRecord(type: UInt8, bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .tls(.sendRecord(type: type, Array(bytes))))
    }

    /// Sends text in records of so many bytes each.
    public static func send(_ text: String, recordsOf size: Int) -> ScriptStep {
        ScriptStep(kind: .tls(.sendRecords(Array(text.utf8), size: min(max(size, 1), 16_384))))
    }

    /// Sends bytes beneath TLS, as they are.
    public static func sendOnWire(bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .tls(.sendOnWire(Array(bytes))))
    }

    // MARK: Ending TLS

    /// Announces the end of the server's side (close_notify) without closing; later steps may still send.
    public static var announceEnd: ScriptStep { ScriptStep(kind: .tls(.announceEnd)) }

    /// Closes without announcing it: to a TLS client the stream looks cut off.
    public static var closeUnannounced: ScriptStep { ScriptStep(kind: .closeUnannounced) }

    var makesHandshake: Bool {
        if case .tls(.handshake) = kind { return true }
        return false
    }
}
