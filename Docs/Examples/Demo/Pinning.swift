import AFNetworking
import AFNetworkingTesting
import Foundation

/// A session that pins one server, and an impostor that poses as it.
struct Pinning {
    private let site: Site
    private let screen: Screen
    private let claims: Claims
    private let journal: Journal
    private let pins: PinSet
    private let pinned: HTTPSessionManager
    private let unpinned: HTTPSessionManager

    init(_ site: Site, _ screen: Screen, _ claims: Claims, _ journal: Journal) throws {
        (self.site, self.screen, self.claims, self.journal) = (site, screen, claims, journal)
        pins = PinSet(
            [.publicKey(site.certificate.certificate.pin)],
            backups: [.publicKey(PublicKeyPin(publicKeyBytes: site.spareKey.publicKeyBytes))]
        )
        let policy = SecurityPolicy()
        policy.hostRules = [try .pins(Site.host, pins)]

        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([site.authority.certificate, site.otherAuthority.certificate])
        unpinned = HTTPSessionManager(sessionConfiguration: configuration)
        configuration.tls.identity = try ClientIdentity(
            certificates: site.clientCertificate.chain,
            privateKeyPEM: site.clientCertificate.privateKeyPEM.utf8
        )
        pinned = HTTPSessionManager(sessionConfiguration: configuration)
        pinned.securityPolicy = policy
        journal.watch(pinned)
        journal.watch(unpinned)
    }

    func close() {
        pinned.invalidateSessionCancelingTasks(true, resetSession: false)
        unpinned.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    func pinnedGet() async throws {
        let start = ContinuousClock.now
        let answer = try await pinned.get(site.server.url("/greeting", host: Site.host).absoluteString)
        let time = ContinuousClock.now - start

        try claims.check("the pinned server answers", answer.response?.statusCode, is: 200)
        let connection = try claims.check("it has a new connection", site.server.connections.last)
        let shown = connection.tls?.clientCertificates.map(\.summary)
        try claims.check("it was shown our certificate", shown, is: ["demo client"])
        let chain = site.certificate.chain + [site.authority.certificate]
        let matches = (pins.pins + pins.backupPins).filter { pin in chain.contains { pin.matches($0) } }
        let match = try claims.check("its chain has a pin", matches.first)
        try claims.check("just one", matches.count, is: 1)
        screen.row("pinned GET", "200; of 2 pins the server's own key has one, the backup waits", Screen.text(time))
        screen.more("\(match)", .dim)
        screen.more("the server asked who we are, and was shown the certificate of \"demo client\"")
    }

    func impostor() async throws {
        let url = site.impostor.url("/greeting", host: Site.host).absoluteString
        var refusal: RequestFailure?
        do throws(RequestFailure) {
            _ = try await pinned.get(url)
        } catch {
            refusal = error
        }
        let failure = try claims.check("the impostor is refused", refusal)
        let underlying = (failure.error as NSError).userInfo[NSUnderlyingErrorKey] as? URLError
        let cause = try claims.check("the error says why", underlying?.loadFailure)
        try claims.check("it is a matter of trust", cause.reason, is: .trust)
        try claims.check("in the handshake", cause.phase, is: .tls)
        try claims.check("by the rule for the host", cause.security?.rule, is: "pins for \(Site.host)")
        screen.row("impostor", "the same name, certified by an authority that we trust too; refused:")
        screen.more(cause.message, .dim)
        try await tellItsSide()
    }

    /// What the impostor has recorded.
    private func tellItsSide() async throws {
        try await site.impostor.waitForEnd(ofConnection: 1)
        let connections = site.impostor.connections
        let connection = try claims.check("the impostor was connected to", connections.first)
        let handshake = try claims.check("a handshake was begun", connection.tls)
        try claims.check("once", connections.count, is: 1)
        try claims.check("for this name", handshake.serverName, is: Site.host)
        try claims.check("it was not finished", handshake.isComplete, is: false)
        try claims.check("the impostor has no request", site.impostor.requests.count, is: 0)
        try claims.check("nor a part of one", connection.bytesReceived, is: 0)
        try claims.check("nor our certificate", handshake.clientCertificates.count, is: 0)
        let alert = try claims.check("it was told that it is refused", handshake.receivedAlert)
        screen.row(
            "its side",
            "handshakes begun \(connections.count), finished \(handshake.isComplete ? 1 : 0); bytes of requests "
                + "\(connection.bytesReceived); certificates of ours \(handshake.clientCertificates.count)"
        )
        screen.more(
            "it asked for one, and got \(connection.wire.count) bytes of handshake with alert \"\(alert.name)\""
        )
    }

    /// Shows that nothing else was wrong with the impostor.
    func sameWithoutPins() async throws {
        let answer = try await unpinned.get(site.impostor.url("/greeting", host: Site.host).absoluteString)

        try claims.check("without pins the impostor is believed", answer.response?.statusCode, is: 200)
        try claims.check("and has a request", site.impostor.requests.count, is: 1)
        screen.row("without pins", "the same impostor is believed: 200; it was the pins that made the difference")
    }
}
