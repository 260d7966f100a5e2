import AFTLS

/// What servers of a simulation show, made once for all seeds: the work would be most of a run.
///
/// Keys are of RSA, whose signatures are all of one length: what is random in a handshake then changes no length, and
/// the same seed tells the same story.
// Unchecked: OpenSSL counts references to contexts with a lock of its own, and nothing here changes.
final class SecuredSites: @unchecked Sendable {
    enum Kind: CaseIterable {
        case good, wrongName, stranger, expired
    }

    static let shared = Result { try SecuredSites() }

    let tls: TLSConfiguration
    private let contexts: [Kind: [MemoryServer.Context]]

    private init() throws {
        let key = try CertificateKey(.rsa)
        let authority = try CertificateAuthority("Simulated Root", key: key) { $0.serialNumber = [1] }
        let stranger = try CertificateAuthority("Another Root", kind: .rsa) { $0.serialNumber = [2] }
        var contexts: [Kind: [MemoryServer.Context]] = [:]
        for kind in Kind.allCases {
            let names = kind == .wrongName ? ["other.test"] : (0..<4).map { "host\($0).test" }
            var template = CertificateTemplate.server(for: names)
            template.serialNumber = [3]
            if kind == .expired { template.expire() }
            let issued = try (kind == .stranger ? stranger : authority).issue(template, key: key)
            contexts[kind] = try [TLSVersion.v1_3, .v1_2].map { try MemoryServer.Context(issued, $0, tickets: 0) }
        }
        self.contexts = contexts
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        self.tls = tls
    }

    func context(_ kind: Kind, isOld: Bool) -> MemoryServer.Context? { contexts[kind]?[isOld ? 1 : 0] }
}

/// Puts TLS in front of another program, with everything that can go wrong in a handshake and behind it.
final class SecuredServer: ServerProgram, ServerLayer {
    private let inner: any ServerProgram
    private let engine: MemoryServer
    private let faults: Faults
    private let isImpostor: Bool
    private let isOld: Bool
    private var isReady = false
    private var hasSentCloseNotify = false
    /// Nothing it says makes sense any more.
    private var isSilent = false

    init?(_ inner: any ServerProgram, in world: VirtualWorld, isOld: Bool) {
        let kind = SecuredServer.certificate(world.faults)
        guard let sites = try? SecuredSites.shared.get(), let context = sites.context(kind, isOld: isOld),
            let engine = try? MemoryServer(context)
        else { return nil }
        self.inner = inner
        self.engine = engine
        self.isOld = isOld
        faults = world.faults
        isImpostor = kind != .good
    }

    private static func certificate(_ faults: Faults) -> SecuredSites.Kind {
        if faults.strikes(.tlsWrongName) { return .wrongName }
        if faults.strikes(.tlsStranger) { return .stranger }
        return faults.strikes(.tlsExpired) ? .expired : .good
    }

    // MARK: - What comes

    func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        guard !isSilent else { return }
        engine.feed(Array(bytes))
        if !isReady {
            engine.handshake()
            sendFlight(client)
            guard engine.isReady, !isSilent else { return }
            isReady = true
            client.connection.layer = self
            inner.connected(client)
        }
        let data = engine.receive()
        // Alerts, and answers to what was asked about keys.
        let reply = engine.take()
        if !reply.isEmpty { client.sendRaw(reply) }
        guard !data.isEmpty else { return }
        if isImpostor { client.report("O4 a request came to a server whose certificate no session should accept") }
        inner.received(data[...], client)
    }

    func inputEnded(_ client: ServerEnd, reset: Bool) {
        isReady ? inner.inputEnded(client, reset: reset) : client.close()
    }

    func outputEnded(_ client: ServerEnd) {
        isReady ? inner.outputEnded(client) : client.close()
    }

    // MARK: - What goes

    private func sendFlight(_ client: ServerEnd) {
        var flight = engine.take()
        guard !flight.isEmpty else { return }
        if faults.strikes(.tlsStallInHandshake) { return isSilent = true }
        if faults.strikes(.tlsResetInHandshake) { return end(client, .reset) }
        if faults.strikes(.tlsEndInHandshake) {
            client.sendRaw(Array(flight.prefix(faults.draw(.tlsEndInHandshake, 0...(flight.count - 1)))))
            return end(client, .end)
        }
        if faults.strikes(.tlsGarbage) {
            isSilent = true
            flight = (0..<flight.count).map { _ in UInt8(faults.draw(.tlsGarbage, 0...255)) }
        }
        if faults.strikes(.tlsFlippedHandshake) { SecuredServer.flip(&flight, faults, .tlsFlippedHandshake) }
        if faults.strikes(.tlsSlowFlight) {
            client.connection.hold(faults.delay(.tlsSlowFlight, milliseconds: 1...500))
        }
        client.sendRaw(flight)
    }

    private func end(_ client: ServerEnd, _ cut: FaultCut) {
        isSilent = true
        switch cut {
        case .reset: client.reset()
        case .end: client.close()
        }
    }

    private static func flip(_ bytes: inout [UInt8], _ faults: Faults, _ point: FaultPoint) {
        bytes[faults.draw(point, 0...(bytes.count - 1))] ^= UInt8(1 << faults.draw(point, 0...7))
    }

    func sealed(_ bytes: [UInt8]) -> [UInt8] {
        guard !hasSentCloseNotify else { return [] }
        if !isOld, faults.strikes(.tlsKeyUpdate) { engine.updateKeys(asksBack: false) }
        engine.send(bytes)
        var sealed = engine.take()
        if !sealed.isEmpty, faults.strikes(.tlsFlippedData) { SecuredServer.flip(&sealed, faults, .tlsFlippedData) }
        if faults.strikes(.tlsCloseNotifyOnly) { sealed += closeNotify() }
        return sealed
    }

    func closeNotify() -> [UInt8] {
        guard isReady, !hasSentCloseNotify else { return [] }
        hasSentCloseNotify = true
        if faults.strikes(.tlsWithoutCloseNotify) { return [] }
        engine.sendCloseNotify()
        return engine.take()
    }
}
