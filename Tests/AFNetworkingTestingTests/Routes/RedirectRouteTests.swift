import AFNetworkingTesting
import Foundation
import Testing

@Suite struct RedirectRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.redirects)
    }

    @Test func `a chain counts down, with paths or whole URLs`() throws {
        #expect(try Visit(server, "/redirect/2").status == 302)
        #expect(try Visit(server, "/redirect/2?k=v")["location"] == "/redirect/1?k=v")
        #expect(try Visit(server, "/relative-redirect/1", method: "POST")["location"] == "/relative-redirect/0")
        #expect(try Visit(server, "/absolute-redirect/1")["location"] == "http://test.example:81/absolute-redirect/0")
        let end = try Visit(server, "/redirect/0", method: "PUT", body: "x".utf8)
        #expect(end.status == 200)
        #expect(try end.json()["data"] as? String == "x")
        #expect(try Visit(server, "/redirect/x").status == 400)
    }

    @Test func `status and body are chosen by the query`() throws {
        let reply = try Visit(server, "/redirect/1?status_code=308&body=1000")
        #expect(reply.status == 308)
        #expect(reply.body.count == 1_000)
        #expect(reply["location"] == "/redirect/0?status_code=308&body=1000")
        #expect(try Visit(server, "/redirect/1?status_code=1").status == 400)
    }

    @Test func `any text can be the target`() throws {
        let reply = try Visit(server, "/redirect-to?url=ftp%3A%2F%2Fx%2F%20y&status_code=301")
        #expect(reply.status == 301)
        #expect(reply["location"] == "ftp://x/ y")
        #expect(try Visit(server, "/redirect-to").status == 400)
    }

    @Test func `loops do not end`() throws {
        #expect(try Visit(server, "/redirect/loop?status_code=307")["location"] == "/redirect/loop?status_code=307")
        #expect(try Visit(server, "/redirect/growing")["location"] == "/redirect/growing?n+")
        #expect(try Visit(server, "/redirect/growing?n+")["location"] == "/redirect/growing?n++")
    }

    @Test func `the chain of a path goes over several servers`() throws {
        let servers = try (0..<3).map { _ in try TestServer() }
        for server in servers { server.install(.redirects(over: servers.map { $0.url("/ignored?x") })) }

        func location(_ server: TestServer, _ target: String) throws -> String? {
            try Visit(server, target)["location"]
        }
        #expect(try location(servers[0], "/chain/1/0/2?q") == "http://127.0.0.1:\(servers[1].port)/chain/0/2?q")
        #expect(try location(servers[1], "/chain/0/2") == "http://127.0.0.1:\(servers[0].port)/chain/2")
        #expect(try location(servers[0], "/chain/2") == "http://127.0.0.1:\(servers[2].port)/chain")
        #expect(try Visit(servers[2], "/chain").json()["method"] as? String == "GET")
        #expect(try Visit(servers[2], "/chain/3").status == 400)
        #expect(try Visit(servers[2], "/chain/x").status == 400)
    }

    @Test func `the origin is that of the request, also through TLS`() throws {
        let authority = try CertificateAuthority()
        let site = try authority.issue(for: "localhost")
        let secure = try TestServer(tls: ServerTLS(site))
        secure.install(.redirects)
        let client = try TLSClient(secure.address, .init(anchors: [authority.certificate]))
        try client.verifyingHandshake()
        try client.send("GET /absolute-redirect/1 HTTP/1.1\r\nHost: localhost:9\r\nConnection: close\r\n\r\n")

        #expect(try client.readToEnd().contains("\r\nLocation: https://localhost:9/absolute-redirect/0\r\n"))
        #expect(secure.requests.map(\.isSecure) == [true])
    }
}
