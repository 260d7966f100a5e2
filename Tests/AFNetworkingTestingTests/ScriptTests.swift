import AFNetworkingTesting
import Testing

@Suite struct ScriptTests {
    @Test func `expect then send then close`() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.script(.expect("GET / "), .expectHead, .send("HTTP/1.1 200 OK\r\n\r\nraw"), .close)
        let client = try RawClient(server)

        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        #expect(try client.readToEnd() == "HTTP/1.1 200 OK\r\n\r\nraw")
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        #expect(server.requests.map(\.rawHead) == [.init("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)])
        #expect(server.connections[0].completedSteps == 4)
    }
}
