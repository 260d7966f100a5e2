@Suite("Delegates of loads that are awaited")
struct AwaitedDelegateTests {
    private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
        let heard = Watched<[String]>([])

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            heard.change { $0.append("redirect") }
            completionHandler(request)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
        {
            heard.change { $0.append("metrics") }
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            heard.change { $0.append("response") }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            heard.change { $0.append("data") }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            heard.change { $0.append("completion") }
        }
    }

    @Test func `a delegate hears of redirects and metrics, and the caller of response, body and completion`()
        async throws
    {
        let server = try TestServer()
        server.route("GET", "/from", ServerReply.text("").status(302).header("Location", "/to"))
        server.route("*", "/to", .text("there"))
        let (listener, others) = (Listener(), Listener())
        let session = URLSession.loopback(delegate: others)

        let (data, _) = try await session.data(from: server.url("/from"), delegate: listener)
        #expect(String(decoding: data, as: UTF8.self) == "there")
        #expect(try await listener.heard.wait("metrics") { $0.contains("metrics") } == ["redirect", "metrics"])
        _ = try await session.upload(
            for: URLRequest("PUT", server.url("/to")),
            from: Data("x".utf8),
            delegate: listener
        )
        let heard = try await listener.heard.wait("metrics") { $0.count { $0 == "metrics" } == 2 }

        #expect(heard == ["redirect", "metrics", "metrics"])
        #expect(others.heard.value == [])
    }
}
