import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Runs what the article about pinning shows.
@Suite struct PinningArticleTests {
    private static let here = URL(fileURLWithPath: #filePath)
    private static let root = (1...4).reduce(here) { url, _ in url.deletingLastPathComponent() }

    @Test func `every line of the snippets stands in this file`() throws {
        let source = try String(contentsOf: Self.here, encoding: .utf8)
        let known = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let article = Self.root.appendingPathComponent("Docs/AFNetworking.docc/Pinning.md")

        let snippets = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
            .dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        let missing = snippets.flatMap { $0.split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !known.contains($0) && !$0.contains("/etc/my-app/pins") }

        #expect(snippets.count == 4)
        #expect(missing == [])
    }

    @Test func `the policy of the article pins what it says`() throws {
        let pins = try PinSet(
            ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="],
            backups: ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="]
        )
        let policy = SecurityPolicy()
        policy.hostRules = [
            try .pins("**.example.com", pins),
            try .noPins("cdn.example.com"),
        ]

        let configuration = URLSessionConfiguration.default
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)
        policy.reportHandler = { report in
            log("\(report.host) has \(report.pins): \(report.explanation)")
        }
        @Sendable func log(_ text: String) {}

        let api = try #require(URL(string: "https://api.example.com"))
        #expect(policy.lint(baseURL: api).filter { $0.severity > .note }.isEmpty)
        #expect(session.configuration.tls.evaluator != nil)
        #expect(policy.rule(for: "api.example.com")?.requirement == .pins(pins))
        #expect(policy.rule(for: "cdn.example.com")?.requirement == .noPins)
    }

    @Test func `the policy of AFNetworking is made as the article makes it`() throws {
        let folder = try TemporaryFolder()
        try folder.write("root.cer", try CertificateAuthority().der)

        let policy = try AFSecurityPolicy(pinningMode: .publicKey, certificatesInFolder: folder.path)

        #expect(policy.pinnedCertificates?.count == 1)
    }
}
