import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@Test func `the server names its user`() async throws {
    let server = try TestServer()
    server.route("GET", "/users/1", .json(#"{"name": "Ada"}"#))

    let (data, _) = try await URLSession.shared.data(from: server.url("/users/1"))

    #expect(String(decoding: data, as: UTF8.self).contains("Ada"))
    server.stop()
}

/// Runs what `README.md` shows, and looks up what it refers to.
@Suite struct ReadmeTests {
    /// What stands below a heading, `## On Linux today` as an example.
    private static func section(_ heading: String, of page: String = "README.md") throws -> String {
        let level = heading.prefix { $0 == "#" }
        return try #require(
            Repository.text(page).components(separatedBy: "\n\(heading)\n").dropFirst().first?
                .components(separatedBy: "\n\(level) ").first
        )
    }

    private static func rows(of section: String) -> [Substring] {
        section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| |") }
    }

    private static let choosing = "Sources/AFNetworking/AFNetworking.docc/Choosing.md"

    @Test func `every claim about us is shown by a test that exists`() throws {
        let section = try Self.section("### What others do on Linux", of: Self.choosing)
        let rows = Self.rows(of: section)
        let claimed = rows.flatMap { $0.matches(of: /\[(\d+)\]/).map { String($0.output.1) } }
        let named = section.matches(of: /^(\d+) `([^`]+)`/.anchorsMatchLineEndings())
        let sources = try Repository.files(in: "Tests", endingWith: "Tests.swift").map(Repository.text)
        let missing = named.filter { test in !sources.contains { $0.contains("func `\(test.output.2)`") } }

        #expect(rows.count >= 10 && rows.allSatisfy { $0.filter { $0 == "|" }.count == 7 })
        #expect(Set(claimed) == Set(named.map { String($0.output.1) }) && claimed.count == rows.count + 1)
        #expect(missing.map(\.output.2) == [])
    }

    @Test func `what the README compares stands in the whole comparison`() throws {
        func claims(_ rows: [Substring]) -> [String] {
            rows.map { $0.replacing(#/ \[\d+\]/#, with: "").split(separator: "|").prefix(2).joined(separator: "|") }
        }
        let whole = Set(claims(Self.rows(of: try Self.section("### What others do on Linux", of: Self.choosing))))
        let part = claims(Self.rows(of: try Self.section("## On Linux today")))

        #expect(part.count >= 8)
        #expect(part.filter { !whole.contains($0) } == [])
    }

    @Test func `every command is one of dev, every file is there, and every product is one`() throws {
        let readme = try Repository.text("README.md")
        let (dev, package) = (try Repository.text("dev"), try Repository.text("Package.swift"))
        let commands = readme.matches(of: /`\.\/dev ([a-z]+)/).map { String($0.output.1) }
        let files = readme.matches(of: /\]\(([^)#]+)\)/).map { String($0.output.1) }.filter { !$0.contains("://") }
        let products = try Self.section("## Modules").matches(of: /^- `(\w+)`/.anchorsMatchLineEndings())

        #expect(Set(commands).isSuperset(of: ["demo", "bench", "docs"]))
        // What `dev` does for each command, between `case` and `esac`.
        let known = dev.matches(of: /^ +([a-z| ]+)\)/.anchorsMatchLineEndings())
            .flatMap { $0.output.1.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(commands.filter { !known.contains($0) } == [])
        #expect(files.count > 10)
        #expect(
            files.filter {
                !FileManager.default.fileExists(atPath: Repository.root.appendingPathComponent($0).path)
            } == []
        )
        #expect(products.count == 6)
        #expect(products.filter { !package.contains(".library(name: \"\($0.output.1)\"") }.map(\.output.1) == [])
    }

    @Test func `the pinned manager has its rule, and refuses a server without the key`() async throws {
        let site = try Site(tls: true)
        site.server.route("GET", "/v1/users/1", .json(#"{"name": "anna"}"#))

        let keys = ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="]
        let spares = ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="]
        let policy = SecurityPolicy()
        policy.hostRules = [try .pins("api.example.com", PinSet(keys, backups: spares))]

        #expect(policy.rule(for: "api.example.com") != nil && policy.lint().isEmpty)

        // The same with a server that is there.
        do {
            let own = SecurityPolicy()
            own.hostRules = [try .pins("localhost", PinSet(keys, backups: spares))]
            let configuration = site.configuration
            let api = site.owned(HTTPSessionManager(baseURL: site.url("/v1/"), sessionConfiguration: configuration))
            api.securityPolicy = own
            let error = await #expect(throws: RequestFailure.self) { _ = try await api.get("users/1") }
            #expect((error?.error as? URLError)?.code == .serverCertificateUntrusted)
            #expect(site.server.requests.isEmpty)

            own.hostRules = []
            struct User: Decodable { let name: String }

            let user = try await api.get("users/1", decode: User.self)
            #expect(user.name == "anna")
        }
    }
    /// Compiled as it stands, and not run: there is no such authority.
    private func manager(with policy: SecurityPolicy) throws -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.default
        // Only if an authority of your own issues the certificates. It replaces the system's.
        configuration.tls.anchors = try .file("authority.pem")
        let url = URL(string: "https://api.example.com/v1/")
        let api = HTTPSessionManager(baseURL: url, sessionConfiguration: configuration)
        api.securityPolicy = policy
        return api
    }
}
