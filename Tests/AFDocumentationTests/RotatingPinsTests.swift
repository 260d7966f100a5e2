import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about rotating pins.
@Suite struct RotatingPinsTests {
    private let current = "sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="
    private let spare = "sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="
    private let nextSpare = "sha256/ZZ6RhpnhEBO9cKlxd2aSm4Jc4jmntZ1oUAYyooVraQc="

    @Test func `each set knows the key that the other one uses`() throws {
        let policy = SecurityPolicy()
        @Sendable func log(_ text: String) {}

        let first = try PinSet([current], backups: [spare])
        policy.hostRules = [try .pins("api.example.com", first)]
        #expect(policy.lint().isEmpty)

        let second = try PinSet([spare], backups: [nextSpare])
        policy.hostRules = [try .pins("api.example.com", second)]
        #expect(policy.lint().isEmpty)
        #expect(first.backupPins == second.pins)

        var trial = second
        trial.isReportOnly = true
        policy.hostRules = [try .pins("api.example.com", trial)]
        policy.reportHandler = { report in
            log("\(report.host) has \(report.pins): \(report.explanation)")
        }
        #expect(policy.lint().isEmpty)
    }

    @Test func `a set that ends is found in time`() throws {
        let endOfSupport = Date(timeIntervalSinceNow: 70 * 86_400)
        let policy = SecurityPolicy()

        var pins = try PinSet([current], backups: [spare])
        pins.expiry = PinSet.Expiry(endOfSupport, .failOpen)

        policy.hostRules = [try .pins("api.example.com", pins)]
        #expect(policy.lint().isEmpty)
        #expect(policy.lint(at: Date(timeIntervalSinceNow: 60 * 86_400)).map(\.kind) == [.expiringPinSet])
        pins.expiry = nil
        policy.hostRules = [try .pins("api.example.com", pins)]

        let api = try #require(URL(string: "https://api.example.com"))
        let inTwoMonths = Date(timeIntervalSinceNow: 60 * 86_400)
        #expect(policy.lint(baseURL: api, at: inTwoMonths).filter { $0.severity > .note }.isEmpty)
    }

    @Test func `the file of the page is a policy`() throws {
        let page = try Repository.text("Sources/AFNetworking/AFNetworking.docc/RotatingPins.md")
        let text = try #require(page.components(separatedBy: "```json\n").last?.components(separatedBy: "\n```").first)
        let folder = try ScratchFolder()
        let file = try folder.write("pins.json", Data(text.utf8))

        let policy = try SecurityPolicy(json: Data(contentsOf: file))

        let end = try PinSet.Expiry(Date("2037-06-01T00:00:00Z", strategy: .iso8601), .failClosed)
        let expected = try HostRule.pins("api.example.com", PinSet([current], backups: [spare], expiry: end))
        #expect(policy.rule(for: "api.example.com") == expected)
        #expect(!policy.allowInvalidCertificates && policy.validatesDomainName)
    }

    @Test func `a server that changes to the spare key is accepted, and to another one refused`() async throws {
        let site = try Site(tls: true)
        let (server, url) = (site.server, site.server.url("/text", host: "localhost"))
        server.route("GET", "/text", ServerReply.text("hi").keepAlive(false))
        let authority = try #require(site.authority)
        let policy = SecurityPolicy()
        let configuration = site.configuration
        configuration.tls.evaluator = policy
        let session = site.owned(URLSession(configuration: configuration))

        let now = try authority.issue(for: "localhost")
        let next = try authority.issue(for: "localhost")
        let pins = PinSet([.publicKey(now.certificate.pin)], backups: [.publicKey(next.certificate.pin)])
        policy.hostRules = [try .pins("localhost", pins)]

        try server.use(tls: ServerTLS(now))
        _ = try await session.data(from: url)
        try server.use(tls: ServerTLS(next))
        _ = try await session.data(from: url)

        try server.use(tls: ServerTLS(try authority.issue(for: "localhost")))
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
        #expect(error?.loadFailure?.detail == .policy)
        #expect(server.requests.count == 2)
    }
}
