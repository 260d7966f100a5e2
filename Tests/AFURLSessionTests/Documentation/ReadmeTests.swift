import AFNetworking
import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// Runs what `README.md` shows, and looks up what it refers to.
@Suite struct ReadmeTests {
    private static let here = URL(fileURLWithPath: #filePath)
    private static let root = (1...4).reduce(here) { url, _ in url.deletingLastPathComponent() }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `every line of the snippets stands in this file`() throws {
        let source = try String(contentsOf: Self.here, encoding: .utf8)
        let known = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })

        let snippets = try Self.text("README.md").components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
            .filter { !$0.hasPrefix("// Package.swift") }
        let missing = snippets.flatMap { $0.split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !known.contains($0) }

        #expect(snippets.count == 4)
        #expect(missing == [])
    }

    @Test func `every test the table of differences names exists`() throws {
        let section = try #require(
            Self.text("README.md").components(separatedBy: "## Not as in FoundationNetworking").last?
                .components(separatedBy: "\n## ").first
        )
        let named = section.split(separator: "\n").filter { $0.hasPrefix("|") }
            .compactMap { $0.split(separator: "|").last?.split(separator: "`").dropFirst().first.map(String.init) }
            .filter { !$0.hasPrefix("./dev") }
        let tests = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appendingPathComponent("Tests").path)
            .filter { $0.hasSuffix("Tests.swift") }
            .map { try Self.text("Tests/\($0)") }

        #expect(named.count == 10)
        #expect(
            named.filter { name in !tests.contains { $0.contains("func `\(name)`") || $0.contains("@Test(\"\(name)\"") }
            } == []
        )
    }

    @Test func `every command the README lists is one of dev`() throws {
        let commands = try Self.text("README.md").matches(of: /`\.\/dev ([a-z]+)/).map { String($0.output.1) }
        let dev = try Self.text("dev")

        #expect(Set(commands).isSuperset(of: ["test", "check", "bench", "interop", "docs"]))
        #expect(commands.filter { !dev.contains("cmd_\($0)() {") } == [])
    }

    @Test func `the GET and the completion handler answer`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/hello.txt", .text("hello, world\n"))
        // A test cannot count on port 8000.
        do {
            let url = URL(string: "http://127.0.0.1:8000/hello.txt")!
            #expect(url.path == "/hello.txt")
        }
        let url = server.url("/hello.txt")

        let (data, response) = try await URLSession.shared.data(from: url)
        print(String(decoding: data, as: UTF8.self), response)
        let task = URLSession.shared.dataTask(with: url) { data, response, error in
            print(data?.count ?? 0, response ?? "no response", error ?? "no error")
        }
        task.resume()

        #expect(String(decoding: data, as: UTF8.self) == "hello, world\n")
        #expect(try await server.waitForRequests(2).map(\.target) == ["/hello.txt", "/hello.txt"])
    }

    @Test func `the manager decodes what it gets`() async throws {
        struct User: Decodable, Sendable {
            let name: String
        }
        let server = try TestServer()
        defer { server.stop() }
        server.route("GET", "/v1/users/1", .json("{\"name\": \"anna\"}"))
        // A test has no such server.
        do {
            let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1/"))
            #expect(manager.baseURL?.scheme == "https")
        }
        let manager = HTTPSessionManager(baseURL: server.url("/v1/"))

        let user = try await manager.get("users/1", decode: User.self)

        #expect(user.name == "anna")
    }

    @Test func `the pinned session has its rule, and refuses a server without the key`() async throws {
        let authority = try CertificateAuthority()
        let server = try TestServer(tls: ServerTLS(try authority.issue(for: "localhost")))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([authority.certificate])

        let policy = SecurityPolicy()
        let keys = ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="]
        let spares = ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="]
        policy.hostRules = [try .pins("api.example.com", PinSet(keys, backups: spares))]
        configuration.tls.evaluator = policy
        let pinned = URLSession(configuration: configuration)

        #expect(policy.rule(for: "api.example.com") != nil && policy.lint().filter { $0.severity > .note }.isEmpty)
        policy.hostRules = [try .pins("localhost", PinSet(keys, backups: spares))]
        let url = server.url("/", host: "localhost")
        let error = await #expect(throws: URLError.self) { _ = try await pinned.data(from: url) }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect(server.requests.isEmpty)
    }
}
