import AFNetworking
import AFNetworkingTesting
import Foundation

/// How the key of a server is replaced without cutting off a single user: `swift run PinRotation`.
///
/// Each step is a release of the program, with the policy it ships, or something that happens to the server.
@main struct PinRotation {
    static func main() async throws {
        let site = try Site()
        let reports = Reports()

        print("1  First only look. The pins are for a key that the server has not, as a typing error would have it.")
        let wrong = try Release(site, pins: [CertificateKey()], isReportOnly: true)
        wrong.policy.reportHandler = { reports.add($0) }
        print("   \(await wrong.ask())")
        print("   report: \(await reports.next())")

        print("2  Pin the right key, and let lint look at it, in a test.")
        let risky = try Release(site, pins: [site.first])
        for finding in risky.policy.lint(baseURL: site.url) { print("   lint: \(finding)") }

        print("3  Ship it with a backup, whose key is kept away from the server.")
        let shipped = try Release(site, pins: [site.first], backups: [site.second])
        print("   lint: \(shipped.policy.lint(baseURL: site.url).count) findings")
        print("   \(await shipped.ask())")

        print("4  The first key is lost. The server takes the second one; no user has updated the program.")
        try site.use(site.second)
        print("   \(await shipped.ask())")

        print("5  The next release has a new backup. An attacker who has found the first key gets nowhere with it.")
        let next = try Release(site, pins: [site.second], backups: [site.third])
        print("   \(await next.ask())")
        try site.use(site.first)
        print("   \(await next.ask())")

        for release in [wrong, risky, shipped, next] { release.close() }
    }
}

/// A copy of the program, in the hands of a user.
struct Release {
    let policy = SecurityPolicy()
    private let site: Site
    private let manager: HTTPSessionManager

    init(_ site: Site, pins: [CertificateKey], backups: [CertificateKey] = [], isReportOnly: Bool = false) throws {
        self.site = site
        let pin = { (key: CertificateKey) in Pin.publicKey(PublicKeyPin(publicKeyBytes: key.publicKeyBytes)) }
        var set = PinSet(pins.map(pin), backups: backups.map(pin))
        set.isReportOnly = isReportOnly
        policy.hostRules = [try .pins("localhost", set)]
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([site.authority.certificate])
        manager = HTTPSessionManager(baseURL: site.url, sessionConfiguration: configuration)
        manager.securityPolicy = policy
    }

    /// What becomes of a request.
    func ask() async -> String {
        do throws(RequestFailure) {
            return "the server answers \(try await manager.get("status").response?.statusCode ?? 0)"
        } catch {
            let underlying = (error.error as NSError).userInfo[NSUnderlyingErrorKey] as? URLError
            return "refused: \(underlying?.loadFailure?.security?.rule ?? error.description)"
        }
    }

    func close() { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
}

/// The server, and the keys it has and will have.
struct Site {
    let authority: CertificateAuthority
    let first: CertificateKey
    let second: CertificateKey
    let third: CertificateKey
    private let server: TestServer

    init() throws {
        authority = try CertificateAuthority()
        (first, second, third) = (try CertificateKey(), try CertificateKey(), try CertificateKey())
        server = try TestServer(tls: ServerTLS(authority.issue(for: "localhost", key: first)))
        // A connection that is kept has its handshake behind it.
        server.route("GET", "/status", .json("{}").keepAlive(false))
    }

    var url: URL { server.url("/", host: "localhost") }

    /// A new certificate, on this key.
    func use(_ key: CertificateKey) throws {
        try server.use(tls: ServerTLS(authority.issue(for: "localhost", key: key)))
    }
}

/// What report-only sets have reported.
struct Reports: Sendable {
    private let reports: AsyncStream<PinningReport>
    private let inbox: AsyncStream<PinningReport>.Continuation

    init() {
        (reports, inbox) = AsyncStream.makeStream()
    }

    func add(_ report: PinningReport) { inbox.yield(report) }

    /// The next one, which may be under way.
    func next() async -> String {
        for await report in reports { return "\(report.host) has \(report.pins.first.map { "\($0)" } ?? "no pin")" }
        return "none"
    }
}
