import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Test func `the name is read from the answer`() async throws {
    let server = try TestServer()
    server.route("GET", "/users/7") { _ in .json(#"{"name": "Ada"}"#) }

    let (data, _) = try await URLSession(configuration: .ephemeral).data(from: server.url("/users/7"))

    #expect(String(decoding: data, as: UTF8.self) == #"{"name": "Ada"}"#)
    #expect(server.requests.map(\.target) == ["/users/7"])
    server.stop()
}

private let counted = Heard<Int>()
private let finished = Heard<Bool>()
private func count(_ number: Int) { counted.add(number) }
private func finish(_ error: (any Error)?) { finished.add(error == nil) }

/// The snippets of the article for those who begin.
@Suite struct GettingStartedTests {
    /// Compiled as it stands, and not run: there is no server at its URL.
    private func load(with session: URLSession) async throws -> (Data, URLResponse) {
        let url = URL(string: "http://api.example/items")!
        let (data, response) = try await session.data(from: url)
        return (data, response)
    }

    @Test func `a session is made, and a task calls back`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        configuration.httpMaximumConnectionsPerHost = 4
        let session = URLSession(configuration: configuration)

        let site = try Site()
        site.server.route("POST", "/items") { .data($0.body) }
        let url = site.url("/items")
        let stored = Heard<Data?>()
        @Sendable func report(_ error: any Error) { stored.add(nil) }
        @Sendable func store(_ data: Data?) { stored.add(data) }

        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"name": "blue"}"#.utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")

        let task = session.dataTask(with: request) { data, response, error in
            if let error { return report(error) }
            store(data)
        }
        task.resume()

        #expect(try await stored.wait() == [Data(#"{"name": "blue"}"#.utf8)])
        session.invalidateAndCancel()
    }

    final class Meter: URLSessionDataDelegate {
        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            count(data.count)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            finish(error)
        }
    }

    @Test func `a delegate watches a body arrive`() async throws {
        let site = try Site()
        let url = site.url("/bytes/1000")

        let session = URLSession(configuration: .ephemeral, delegate: Meter(), delegateQueue: nil)
        session.dataTask(with: url).resume()

        #expect(try await finished.wait() == [true])
        #expect(counted.all.reduce(0, +) == 1000)
        session.invalidateAndCancel()
    }
}
