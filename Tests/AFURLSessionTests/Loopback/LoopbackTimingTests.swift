extension LoopbackTests {
    /// Messages that come when they should not.
    struct Timing {
        @Test(arguments: [0, 1, 100_000], [200, 401, 413])
        func `T-MSG-43 an answer before the end of an upload is delivered`(read: Int, status: Int) async throws {
            for closes in [true, false] {
                let server = try TestServer()
                server.route("POST", "/second", .text("second"))
                let connection = closes ? "Connection: close\r\n" : ""
                let answer = "HTTP/1.1 \(status) X\r\n\(connection)Content-Length: 5\r\n\r\nearly"
                server.script(
                    on: .connection(1),
                    steps: [.expectHead, .receive(read), .send(answer)] + (closes ? [.close] : [.receive(64 << 20)])
                )
                let session = URLSession.loopback()

                let body = Data(count: 64 << 20)
                let first = try await session.outcome(of: URLRequest("POST", server.url(), body: body))
                let second = try await session.outcome(of: URLRequest("POST", server.url("/second"), body: Data([1])))

                #expect(first.status == status && first.text == "early", "\(first)")
                #expect(second.text == "second" && server.requests.last?.connection == 2)
                try await server.waitForEnd(ofConnection: 1)
                #expect(server.connections[0].bytesReceived < body.count)
            }
        }
    }
}
