import AFNetworking
import AFNetworkingTesting
import Foundation

/// What a `TestServer` can do to code that uses the network: `swift run TestingYourCode`.
///
/// The code is `WeatherClient`. The same as tests is in Tests/WeatherClientTests.swift.
@main struct TestingYourCode {
    static func main() async throws {
        let server = try TestServer()
        let configuration = WeatherClient.configuration
        configuration.timeoutIntervalForRequest = 0.2
        let client = WeatherClient(service: server.url(), configuration: configuration)
        defer { client.close() }
        let report = ServerReply.json(#"{"place": "Oslo", "degrees": -3.5}"#)

        print("A good answer")
        server.enqueue(report)
        await tell(client, server)

        print("A server that is overloaded, and then is not: asked again")
        server.enqueue(.status(503), .status(503), report)
        await tell(client, server)

        print("A server that cuts the connection in the middle of its answer, and then does not: asked again")
        server.enqueue(report.closing(after: 10), report)
        await tell(client, server)

        print("A server that cuts every connection: given up after three attempts")
        server.enqueue(report.resetting(after: 10), report.closing(after: 10), report.resetting(after: 10))
        await tell(client, server)

        print("A server that takes its time, each time")
        server.enqueue(report.stalling(after: 10), report.stalling(after: 0), report.delayed(by: .seconds(1)))
        await tell(client, server)

        print("A server with a certificate of an unknown authority: told nothing")
        let authority = try CertificateAuthority()
        let stranger = try TestServer(tls: ServerTLS(authority.issue(for: "127.0.0.1")))
        let secured = WeatherClient(service: stranger.url())
        defer { secured.close() }
        await tell(secured, stranger)
    }

    private static func tell(_ client: WeatherClient, _ server: TestServer) async {
        server.forgetRequests()
        do throws(WeatherClient.Failure) {
            print("   \(try await client.report(for: "Oslo"))")
        } catch {
            print("   failure: \(error)")
        }
        print("   requests at the server: \(server.requests.count)")
    }
}
