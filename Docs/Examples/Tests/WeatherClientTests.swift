import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@testable import TestingYourCode

/// Tests of the `WeatherClient` of Docs/Examples/TestingYourCode, as you would write them for code of your own.
///
/// Each has a server of its own, so they run side by side. What the server does is said first, then what the client
/// makes of it, then what the server was asked.
@Suite struct WeatherClientTests {
    private let server: TestServer
    private let oslo = WeatherClient.Report(place: "Oslo", degrees: -3.5)

    init() throws {
        server = try TestServer()
    }

    /// A client that is finished with when the test is.
    private func ask(
        _ service: URL? = nil,
        patience: TimeInterval = 60,
        anchors: TrustAnchors = .system
    ) async throws(WeatherClient.Failure) -> WeatherClient.Report {
        let configuration = WeatherClient.configuration
        configuration.timeoutIntervalForRequest = patience
        configuration.tls.anchors = anchors
        let client = WeatherClient(service: service ?? server.url(), configuration: configuration)
        defer { client.close() }
        return try await client.report(for: "Oslo")
    }

    @Test func `a report is read`() async throws {
        server.route("GET", "/weather") { [oslo] _ in try .json(encoding: oslo) }

        #expect(try await ask() == oslo)

        #expect(server.requests.map(\.target) == ["/weather?at=Oslo"])
    }

    @Test func `an overloaded server is asked again, and not for ever`() async throws {
        server.enqueue(.status(503), .status(503), try .json(encoding: oslo))
        #expect(try await ask() == oslo)
        #expect(server.requests.count == 3)

        server.enqueue(.status(503), .status(503), .status(503))
        await #expect(throws: WeatherClient.Failure.unexpected("status 503")) { try await ask() }
        #expect(server.requests.count == 6)
    }

    @Test func `a connection that is cut in the middle of the answer is made again`() async throws {
        let report = try ServerReply.json(encoding: oslo)
        server.enqueue(report.closing(after: 10), report)

        #expect(try await ask() == oslo)

        #expect(server.requests.count == 2)
    }

    @Test func `a server that cuts every connection is given up`() async throws {
        let report = try ServerReply.json(encoding: oslo)
        server.enqueue(report.closing(after: 10), report.closing(after: 0), report.closing(after: 10))

        await #expect(throws: WeatherClient.Failure.connectionLost) { try await ask() }

        #expect(server.requests.count == 3)
    }

    @Test func `a server that falls silent is given up`() async throws {
        let report = try ServerReply.json(encoding: oslo)
        server.enqueue(report.stalling(after: 10), report.stalling(after: 0), report.stalling(after: 10))

        await #expect(throws: WeatherClient.Failure.tooSlow) { try await ask(patience: 0.1) }
    }

    @Test func `a slow server is waited for`() async throws {
        // Late for as long as the test wants it, and no longer.
        server.route("GET", "/weather") { [oslo] _ in try .json(encoding: oslo).held(until: "it was asked") }
        async let report = ask()
        try await server.waitForRequests(1, timeout: .seconds(60))
        server.signal("it was asked")

        #expect(try await report == oslo)
    }

    @Test func `a certificate for another name is refused, and nothing is sent`() async throws {
        let authority = try CertificateAuthority()
        let stranger = try TestServer(tls: ServerTLS(authority.issue(for: "weather.example")))
        let anchors = TrustAnchors.certificates([authority.certificate])

        await #expect(throws: WeatherClient.Failure.notTrusted) { try await ask(stranger.url(), anchors: anchors) }

        #expect(stranger.connections.map(\.bytesReceived) == [0])
    }

    @Test func `nonsense is no report`() async throws {
        server.route("GET", "/weather", .text("<html>Welcome to our hotel</html>", type: "text/html"))

        await #expect(throws: WeatherClient.Failure.unexpected("no weather report")) { try await ask() }
    }
}
