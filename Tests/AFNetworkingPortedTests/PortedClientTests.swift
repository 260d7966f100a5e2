import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Code that was written for another platform, at work.
@MainActor @Suite final class PortedClientTests {
    private let server: TestServer
    private let client: WeatherClient

    init() throws {
        server = try TestServer()
        server.install(.everything)
        client = WeatherClient(server: server.url("/"))
    }

    deinit {
        client.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    private func wait<Value>(_ body: (@escaping (Value) -> Void) -> Void) async -> Value {
        await withCheckedContinuation { continuation in
            body { continuation.resume(returning: $0) }
        }
    }

    @Test func `a client gets, and reads what it gets`() async throws {
        let object: [String: Any]? = await wait { done in
            _ = client.forecast(city: "Zürich", days: 3) { object, _ in done(object) }
        }
        let args = object?["args"] as? [String: String]
        #expect(args == ["city": "Zürich", "days": "3", "units[temperature]": "C", "units[wind]": "kn"])
        let request = try #require(server.requests.first)
        #expect(request.headers["X-Client"] == "ios/3.2")
        #expect(request.headers["Authorization"] == "Basic YW5uYTpzM2NyZXQ=")
    }

    @Test func `a client posts, and reads errors`() async throws {
        let station: String? = await wait { done in
            client.report(["station": "A7", "wind": 12.5]) { done($1) }
        }
        #expect(station == "A7")
        #expect(server.requests.last?.headers["Content-Type"] == "application/json")
        let (status, error): (Int, NSError) = await wait { done in
            client.explain("status/418") { done(($0, $1)) }
        }
        #expect(status == 418 && error.localizedDescription.hasSuffix("(418)"))
        #expect(error.domain == "com.alamofire.error.serialization.response")

        server.route("GET", "/denied", ServerReply.json("{\"message\": \"pay first\"}").status(402))
        client.responseSerializer = WeatherResponseSerializer()
        let said: NSError = await wait { done in client.explain("denied") { done($1) } }
        #expect(said.localizedDescription == "pay first")
    }

    @Test func `a client uploads a form`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID()).txt")
        try Data("windy".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var fractions: [Double] = []
        let object: Any? = await wait { done in
            client.uploadPhoto(Data(count: 50_000), from: file) { fraction in
                DispatchQueue.main.async { fractions.append(fraction) }
            } completion: { object, error in
                #expect(error == nil)
                done(object)
            }
        }
        let answer = object as? [String: Any]
        #expect((answer?["form"] as? [String: String]) == ["album": "clouds", "station": "42"])
        #expect((answer?["files"] as? [String: String])?["notes"] == "windy")
        #expect(fractions.last == 1)
    }

    @Test func `a client signs its requests`() async throws {
        client.requestSerializer = SigningRequestSerializer()
        let _: [String: Any]? = await wait { done in
            _ = client.forecast(city: "Bern", days: 1) { object, _ in done(object) }
        }
        #expect(server.requests.last?.headers["X-Signature"]?.hasPrefix("signed city=Bern&days=1") == true)
    }

    @Test func `a centre downloads, and observes notifications`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ported-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let center = DownloadCenter()
        let file: URL? = await wait { done in
            center.fetch(server.url("/bytes/5000"), into: folder) { url, _ in done(url) }
        }
        #expect(try Data(contentsOf: #require(file)).count == 5000)
        for _ in 0..<6000 where center.events.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(center.events == ["resume", "complete true"])
    }

    @Test func `the network is watched`() async throws {
        client.reachabilityManager = AFNetworkReachabilityManager(forDomain: "localhost")
        client.watchNetwork()
        client.reachabilityManager.startMonitoring()
        for _ in 0..<6000 where !client.isOnline { try await Task.sleep(for: .milliseconds(10)) }
        client.reachabilityManager.stopMonitoring()
        #expect(client.lastStatus == .reachableViaWiFi && client.isOnline)
    }

    @Test func `texts are escaped as they always were`() {
        #expect(Links.escape("a b&c/d?") == "a%20b%26c/d?")
        #expect(Links.link("http://a.test", ["b": [1, 2], "a": "x y"]) == "http://a.test?a=x%20y&b%5B%5D=1&b%5B%5D=2")
    }
}
