/// One step of a connection script. See `TestServer.script(_:)`.
public struct ScriptStep: Sendable {
    enum Kind: Sendable {
        case expect([UInt8])
        case expectHead
        case expectRequest
        case expectEnd
        case receive(Int)
        case send([[UInt8]], pause: Duration)
        case pause(Duration)
        case pauseUntil(String)
        case shutdownWrite
        case close
        case reset
        case stall
        case neverAccept
        case serve
        case closeUnannounced
        case handshake(ServerTLS?)
        case sendOnWire([UInt8])
        case tls(TLSAction)
    }

    let kind: Kind

    // MARK: Receiving

    /// Reads as many bytes as the text has. The script fails if they differ from the text.
    public static func expect(_ text: String) -> ScriptStep { expect(bytes: text.utf8) }

    /// Reads as many bytes as given. The script fails if they differ.
    public static func expect(bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .expect(Array(bytes)))
    }

    /// Reads a request up to the empty line after its head, and records it in `TestServer.requests`.
    ///
    /// After an `expect`, the expected bytes count as the beginning of the head.
    public static var expectHead: ScriptStep { ScriptStep(kind: .expectHead) }

    /// Reads a request with its body, and records it in `TestServer.requests`.
    public static var expectRequest: ScriptStep { ScriptStep(kind: .expectRequest) }

    /// Reads and drops `count` bytes.
    public static func receive(_ count: Int) -> ScriptStep { ScriptStep(kind: .receive(max(count, 0))) }

    /// Waits until the client closes its sending side. The script fails if bytes arrive before that.
    public static var expectEnd: ScriptStep { ScriptStep(kind: .expectEnd) }

    // MARK: Sending

    /// Sends text in one write.
    public static func send(_ text: String) -> ScriptStep { send(bytes: text.utf8) }

    /// Sends bytes in one write.
    public static func send(bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .send([Array(bytes)], pause: .zero))
    }

    /// Sends text in several writes, cut before the given offsets, with a pause between the writes.
    ///
    /// Without a pause the client may still read several writes at once.
    public static func sendSplit(_ text: String, at offsets: [Int], pause: Duration = .zero) -> ScriptStep {
        sendSplit(bytes: text.utf8, at: offsets, pause: pause)
    }

    /// Sends bytes in several writes, cut before the given offsets, with a pause between the writes.
    public static func sendSplit(
        bytes: some Sequence<UInt8>,
        at offsets: [Int],
        pause: Duration = .zero
    ) -> ScriptStep {
        let bytes = Array(bytes)
        let inside = Set(offsets).filter { (1..<max(bytes.count, 1)).contains($0) }.sorted()
        let pieces = zip([0] + inside, inside + [bytes.count]).map { Array(bytes[$0..<$1]) }
        return ScriptStep(kind: .send(pieces, pause: pause))
    }

    // MARK: Waiting

    /// Waits.
    public static func pause(_ duration: Duration) -> ScriptStep { ScriptStep(kind: .pause(duration)) }

    /// Waits until the test calls `TestServer.signal(_:)` with this name.
    public static func pause(until signal: String) -> ScriptStep { ScriptStep(kind: .pauseUntil(signal)) }

    /// Does nothing until the client closes its side or the server stops.
    public static var stall: ScriptStep { ScriptStep(kind: .stall) }

    // MARK: Ending

    /// Ends the server's sending side; later steps may still receive.
    public static var shutdownWrite: ScriptStep { ScriptStep(kind: .shutdownWrite) }

    /// Closes the connection with an end of stream. The client never sees a reset, because the server receives and
    /// drops everything until the client closes too.
    public static var close: ScriptStep { ScriptStep(kind: .close) }

    /// Resets the connection. The client loses bytes that it has not read yet.
    public static var reset: ScriptStep { ScriptStep(kind: .reset) }

    /// As the first step: leaves the connection in the kernel's queue, established but never accepted.
    ///
    /// It stays there until the server stops, and with it every later connection. On a server with
    /// `Options.backlog` 0 the queue is soon full, and the kernel does not answer further attempts to connect.
    public static var neverAccept: ScriptStep { ScriptStep(kind: .neverAccept) }

    /// Serves the connection from here on as without a script, until it ends.
    public static var serve: ScriptStep { ScriptStep(kind: .serve) }

    // MARK: Starting TLS

    /// Makes the TLS handshake here. The steps before it exchange plain bytes.
    ///
    /// Without this step a server that speaks TLS makes the handshake before the first step.
    public static var handshake: ScriptStep { ScriptStep(kind: .handshake(nil)) }

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
    public static func handshake(_ tls: ServerTLS) -> ScriptStep { ScriptStep(kind: .handshake(tls)) }

    // MARK: Misbehaving once TLS is established

    /// Asks for new keys several times in a row (KeyUpdate, TLS 1.3).
    ///
    /// - Parameters:
    ///   - count: How many times.
    ///   - asksBack: Whether the client must change its keys too, each time.
    public static func updateKeys(_ count: Int = 1, asksBack: Bool = false) -> ScriptStep {
        ScriptStep(kind: .tls(.updateKeys(count: max(count, 0), asksBack: asksBack)))
    }

    /// Sends `count` session tickets (TLS 1.3).
    public static func sendTickets(_ count: Int) -> ScriptStep { ScriptStep(kind: .tls(.sendTickets(max(count, 0)))) }

    /// Asks for a new handshake (HelloRequest, TLS 1.2).
    public static var renegotiate: ScriptStep { ScriptStep(kind: .tls(.renegotiate)) }

    /// Asks for a certificate after the handshake (TLS 1.3), even if the client has not offered post_handshake_auth.
    public static var requestCertificate: ScriptStep { ScriptStep(kind: .tls(.requestCertificate)) }

    /// Sends an encrypted alert (TLS 1.3, or 1.2 with AES-GCM).
    ///
    /// - Parameters:
    ///   - number: The number of the alert, for instance 80 for internal_error.
    ///   - isFatal: Whether its level is fatal or warning.
    public static func sendAlert(_ number: UInt8, isFatal: Bool = true) -> ScriptStep {
        sendRecord(type: 21, bytes: [isFatal ? 2 : 1, number])
    }

    /// Sends one encrypted record of any type with any content (TLS 1.3, or 1.2 with AES-GCM): type 21 is an alert, 22
    /// a handshake message, 23 data.
    public static func sendRecord(type: UInt8, bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .tls(.sendRecord(type: type, Array(bytes))))
    }

    /// Sends text in records of `size` bytes each.
    public static func send(_ text: String, recordsOf size: Int) -> ScriptStep {
        ScriptStep(kind: .tls(.sendRecords(Array(text.utf8), size: min(max(size, 1), 16_384))))
    }

    /// Sends bytes on the wire without encrypting them.
    public static func sendOnWire(bytes: some Sequence<UInt8>) -> ScriptStep {
        ScriptStep(kind: .sendOnWire(Array(bytes)))
    }

    // MARK: Ending TLS

    /// Sends close_notify without closing; later steps may still send.
    public static var announceEnd: ScriptStep { ScriptStep(kind: .tls(.announceEnd)) }

    /// Closes without close_notify: to a TLS client the stream looks truncated.
    public static var closeUnannounced: ScriptStep { ScriptStep(kind: .closeUnannounced) }

    var makesHandshake: Bool {
        if case .handshake = kind { return true }
        return false
    }
}
