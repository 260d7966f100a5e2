import AFNetworking
import Foundation
import Testing

/// `afnet lint` and `--policy`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) final class PolicyTests {
    private static let strange = SecuredSite.strangePin
    private let folder: Program.Folder

    init() throws {
        folder = try Program.Folder()
    }

    private func policy(_ rules: String, _ rest: String = "") throws -> String {
        try folder.make("policy.json", Data(Self.whole(rules, rest).utf8))
    }

    private static func whole(_ rules: String, _ rest: String = "") -> String {
        #"{"SSLPinningMode": 0, "hostRules": [\#(rules)]\#(rest)}"#
    }

    private static func expiry(_ date: String) -> String {
        #", "expiry": {"date": "\#(date)", "choice": "failOpen"}"#
    }

    private static func rule(_ hosts: String, _ pins: [String], backups: [String] = [strange], _ rest: String = "")
        -> String
    {
        func list(_ pins: [String]) -> String { "[\(pins.map { "\"\($0)\"" }.joined(separator: ","))]" }
        return #"{"hosts": "\#(hosts)", "pins": {"pins": \#(list(pins)), "backupPins": \#(list(backups))\#(rest)}}"#
    }

    private static let other = "sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="

    // MARK: lint

    @Test func `a policy with nothing to change is 0`() async throws {
        let file = try policy(Self.rule("**.example.com", [Self.other]), #", "refusesHostsWithoutRule": true"#)
        let run = try await Program.run("lint", file)

        #expect(run.code == 0 && run.text == "\(file): 1 host rule, nothing to change\n")
        #expect(try await Program.run("lint", "-s", file).text == "")
    }

    @Test func `the policy of the help is valid, also for programs`() async throws {
        let text = try await Program.run("help", "policy").text
        let lines = text.components(separatedBy: "\n")
        let first = try #require(lines.firstIndex(of: "{"))
        let last = try #require(lines.firstIndex(of: "}"))
        let json = lines[first...last].joined(separator: "\n")
        #expect(try await Program.run("lint", try folder.make("help.json", Data(json.utf8))).code == 0)

        let policy = try SecurityPolicy(json: Data(json.utf8))
        #expect(policy.hostRules.count == 2 && policy.refusesHostsWithoutRule)
        #expect(policy.rule(for: "a.b.example.com")?.hosts.description == "**.example.com")
    }

    @Test func `each problem has its rule, and what to change`() async throws {
        let old = Self.expiry("2020-01-01T00:00:00Z")
        let file = try policy(
            [
                Self.rule("a.example.com", [Self.other], backups: []), Self.rule("b.example.com", [Self.other], old),
                Self.rule("*.example.com", [Self.other]), #"{"hosts": "c.example.com", "noPins": true}"#,
            ].joined(separator: ",")
        )
        let run = try await Program.run("lint", file)

        #expect(run.code == 1)
        #expect(run.text.hasPrefix("error: rule for b.example.com: the set has ended"))
        #expect(run.text.contains("(expiredPinSet)\n  change: set a later \"date\", or leave out \"expiry\"\n"))
        #expect(run.text.contains("warning: rule for a.example.com: no backup pin"))
        #expect(run.text.contains("\n  change: make a second key"))
        #expect(run.text.hasSuffix("\(file): 4 host rules, 2 problems\n"))
    }

    @Test func `--host shows the rule that counts`() async throws {
        let end = #", "expiry": {"date": "2099-01-01T00:00:00Z", "choice": "failClosed"}, "isReportOnly": true"#
        let rules = Self.rule("**.example.com", [Self.other], end) + #",{"hosts": "cdn.example.com", "noPins": true}"#
        let open = try await Program.run(
            "lint",
            "--host",
            "a.b.example.com",
            "--host",
            "CDN.example.com.",
            "--host",
            "example.com",
            "--host",
            "a b",
            try policy(rules)
        )
        let strict = try await Program.run(
            "lint",
            "--host",
            "example.com",
            try policy(rules, #", "refusesHostsWithoutRule": true"#)
        )

        let lines = open.text.components(separatedBy: "\n")
        #expect(open.code == 0 && lines.count == 5)
        let first = "a.b.example.com: the rule for **.example.com: 1 in use, 1 as backup, until 2099-01-01T00:00:00Z, "
        #expect(lines[0] == first + "then refused, only reported")
        #expect(lines[1] == "CDN.example.com.: the rule for cdn.example.com: no pins")
        #expect(
            lines[2] == "example.com: no rule, so whatever the authorities vouch for" && lines[3] == "a b: not a host"
        )
        #expect(strict.text == "example.com: refused, there is no rule for it\n")
    }

    @Test(
        arguments: [
            ("{", "it is not JSON"), ("[]", "it has to be one object"),
            (#"{"hostRules": []}"#, "\"SSLPinningMode\" is missing: afnet help policy has the format"),
            (#"{"SSLPinningMode": 3}"#, "SSLPinningMode: "),
            (#"{"hostrules": []}"#, "the name \"hostrules\" means nothing here"),
            (whole(#"{"hosts": "*", "noPins": true}"#), "host pattern"),
            (whole(rule("h.test", ["x"])), "is no pin"),
            (whole(rule("h.test", [], #", "backups": []"#)), "hostRules[0].pins: the name \"backups\""),
            (whole(#"{"hosts": "h.test", "pins": {}}"#), "hostRules[0].pins: \"pins\" is missing"),
            (whole(rule("h.test", [], expiry("soon"))), "hostRules[0].pins.expiry.date: \"soon\" is no date"),
            (whole(rule("h.test", [], expiry("2037-06-01"))), "write 2027-06-01T00:00:00Z"),
        ]
    )
    func `a file that no program can read is 2, with the reason`(text: String, reason: String) async throws {
        let file = try folder.make("f", Data(text.utf8))
        let run = try await Program.run("lint", file)

        #expect(throws: DecodingError.self) { _ = try SecurityPolicy(json: Data(text.utf8)) }
        #expect(
            run.code == 2 && run.errors.hasPrefix("afnet: lint: \(file): ") && run.errors.contains(reason),
            "\(run)"
        )
        #expect(try await Program.run("--policy", file, "https://127.0.0.1:1/").code == 43)
    }

    @Test func `a missing file is 2`() async throws {
        #expect(try await Program.run("lint", folder.path("none")).code == 2)
        #expect(try await Program.run("lint").code == 2)
    }

    @Test func `lint tells of an authority that others may refuse`() async throws {
        let authority = try CertificateAuthority("Own") { $0.keyUsage = nil }
        let flawed = try folder.make("flawed.pem", Data(authority.pem.utf8))
        let whole = try folder.make("whole.pem", Data(CertificateAuthority().pem.utf8))
        let policy = try policy(Self.rule("**.example.com", [Self.other]))

        let run = try await Program.run("lint", "--cacert", flawed)
        let clean = try await Program.run("lint", "--cacert", whole)
        let both = try await Program.run("lint", policy, "--cacert", flawed)

        #expect(run.code == 0 && clean.code == 0 && both.code == 0)
        #expect(
            run.text == "note: the authority \"CN=Own\" does not say what its key is for; make it anew with "
                + "keyUsage = critical, keyCertSign, cRLSign (missingKeyUsage)\n"
                + "\(flawed): 1 own authority, other clients may refuse it\n"
        )
        #expect(clean.text == "\(whole): 1 own authority, nothing to change\n")
        #expect(both.text == "\(policy): 1 host rule, nothing to change\n\(run.text)")
        #expect(try await Program.run("lint", "--cacert", folder.path("none")).code == 77)
        #expect(try await Program.run("lint", "--cacert", whole, "--host", "a.test").code == 2)
    }

    // MARK: --policy

    @Test func `a transfer keeps to the policy`() async throws {
        let site = try SecuredSite()
        let good = try policy(Self.rule("127.0.0.1", [site.intermediatePin]))
        #expect(try await site.run("--policy", good).text == "answer")

        let bad = try policy(Self.rule("127.0.0.1", [Self.other]))
        let refused = try await site.run("--policy", bad)
        #expect(refused.code == 90 && site.server.requests.count == 1)
        let elsewhere = try policy(Self.rule("other.test", [Self.other]))
        #expect(try await site.run("--policy", elsewhere).code == 0)
        let strict = try policy(Self.rule("other.test", [Self.other]), #", "refusesHostsWithoutRule": true"#)
        #expect(try await site.run("--policy", strict).code == 90)
    }

    @Test func `a report-only rule reports and accepts the server`() async throws {
        let site = try SecuredSite()
        let file = try policy(Self.rule("127.0.0.1", [Self.other], #", "isReportOnly": true"#))
        let run = try await site.run("--policy", file)

        #expect(run.code == 0 && run.text == "answer")
        #expect(run.errors.hasPrefix("afnet: --policy: 127.0.0.1 would be refused, but its rule only reports: "))
    }

    @Test func `a pinned host is not loaded over plain http`() async throws {
        let server = try TestServer()
        let file = try policy(Self.rule("127.0.0.1", [Self.other]))

        #expect(try await Program.run("--policy", file, server.url("/").absoluteString).code != 0)
        #expect(server.requests.isEmpty)
    }

    // MARK: Versions

    @Test func `the versions of TLS are those of the options`() async throws {
        let old = try SecuredSite { _ in
        } tls: { tls, _ in
            tls.maximumVersion = .tls12
        }
        let new = try SecuredSite { _ in
        } tls: { tls, _ in
            tls.minimumVersion = .tls13
        }

        #expect(try await old.run("--tlsv1.2").code == 0)
        #expect(try await old.run("--tlsv1.3").code == 35)
        #expect(try await new.run("--tls-max", "1.3").code == 0)
        #expect(try await new.run("--tls-max", "1.2").code == 35)
    }
}
