import AFFaults

@Suite struct HostRuleTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate
    private let wanted: PinSet
    private let unmet: PinSet

    private static let hosts = ["api.example.com", "example.com", "a.b.example.com", "other.test"]

    init() throws {
        root = try CertificateAuthority("Root")
        site = try root.issue(for: "api.example.com", "example.com", "a.b.example.com", "other.test")
        wanted = PinSet([.publicKey(site.certificate.pin)], backups: [.publicKey(root.certificate.pin)])
        unmet = try PinSet(["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="])
    }

    private func trust(_ host: String, at date: Date = Date()) -> ServerTrust {
        ServerTrust(servedChain: site.chain, host: host, anchors: .certificates([root.certificate]), at: date)
    }

    private func policy(_ rules: HostRule...) -> SecurityPolicy {
        let policy = SecurityPolicy()
        policy.hostRules = rules
        return policy
    }

    // MARK: - Which rule counts

    @Test("of the rules for a host the most specific one counts alone, T-TLS-28")
    func mostSpecific() throws {
        let rules: [HostRule] = [
            try .pins("**.com", unmet), try .pins("**.example.com", wanted), try .pins("*.example.com", unmet),
            try .pins("api.example.com", wanted),
        ]
        for order in [rules, rules.reversed()] {
            let policy = SecurityPolicy()
            policy.hostRules = order
            #expect(policy.rule(for: "api.example.com")?.hosts == rules[3].hosts)
            #expect(policy.rule(for: "API.Example.COM.")?.hosts == rules[3].hosts)
            #expect(policy.rule(for: "www.example.com")?.hosts == rules[2].hosts)
            #expect(policy.rule(for: "a.b.example.com")?.hosts == rules[1].hosts)
            #expect(policy.rule(for: "example.com")?.hosts == rules[0].hosts)
            for host in ["com", "example.org", "api.example.com.evil.test", "xapi.example.org", "192.0.2.1", ""] {
                #expect(policy.rule(for: host) == nil, "\(host)")
            }
            #expect(policy.evaluate(trust("api.example.com")) == .accept)
            #expect(policy.evaluate(trust("a.b.example.com")) == .accept)
            #expect(policy.evaluate(trust("example.com")).rule == "pins for **.com")
            #expect(policy.evaluate(trust("other.test")) == .accept)
        }
    }

    @Test("random hosts get the rule that a naive reading of the patterns gives, T-TLS-28")
    func oracle() throws {
        var random = SplitMix(seed: 28)
        let labels = ["a", "b", "api", "xn--bcher-kva", "a-b"]
        let tops = ["test", "example.test", "b.test"]
        for _ in 1...300 {
            let patterns = Set(
                (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    let star = ["", "*.", "**."].randomElement(using: &random) ?? ""
                    let label = Bool.random(using: &random) ? (labels.randomElement(using: &random) ?? "") + "." : ""
                    return star + label + (tops.randomElement(using: &random) ?? "")
                }
            )
            let policy = SecurityPolicy()
            policy.hostRules = try patterns.sorted().map { try .pins($0, unmet) }
            let host =
                (0..<Int.random(in: 0...3, using: &random))
                .map { _ in (labels.randomElement(using: &random) ?? "") + "." }.joined()
                + (tops.randomElement(using: &random) ?? "")

            let found = policy.rule(for: Bool.random(using: &random) ? host : host.uppercased() + ".")

            #expect(found?.hosts.description == Self.naive(patterns, host), "\(host) \(patterns)")
        }
    }

    /// Exact first, then by the length of the domain, one label before any number.
    private static func naive(_ patterns: Set<String>, _ host: String) -> String? {
        if patterns.contains(host) { return host }
        var rest = host.split(separator: ".")
        var depth = 0
        while !rest.isEmpty {
            rest.removeFirst()
            depth += 1
            let domain = rest.joined(separator: ".")
            if depth == 1, patterns.contains("*.\(domain)") { return "*.\(domain)" }
            if patterns.contains("**.\(domain)") { return "**.\(domain)" }
        }
        return nil
    }

    @Test("two rules for the same hosts refuse them, T-TLS-28")
    func conflict() throws {
        let policy = policy(try .pins("api.example.com", wanted), try .noPins("API.example.com."))

        #expect(policy.rule(for: "api.example.com") == nil)
        #expect(policy.evaluate(trust("api.example.com")).rule == "several rules for api.example.com")
        #expect(policy.evaluate(trust("example.com")) == .accept)
        #expect(policy.forbidsPlainText(to: "api.example.com"))
    }

    @Test("an address has the rule of its host, however it is written, T-TLS-28")
    func mappedAddress() throws {
        let spellings = ["127.0.0.1", "[::ffff:127.0.0.1]", "::ffff:7f00:1", "[0:0:0:0:0:FFFF:7F00:0001]"]
        let translated = "[64:ff9b::127.0.0.1]"
        for written in spellings {
            let pinned = policy(try .pins(written, unmet))
            for host in spellings + [translated] {
                #expect(pinned.rule(for: host) != nil && pinned.forbidsPlainText(to: host), "\(host)")
                #expect(pinned.evaluate(trust(host)) != .accept)
            }
            for host in ["127.0.0.2", "::ffff:127.0.0.2", "::1", "::127.0.0.1"] {
                #expect(pinned.rule(for: host) == nil && !pinned.forbidsPlainText(to: host), "\(host)")
            }
            let exempt = SecurityPolicy(pinningMode: .publicKey, certificates: [root.certificate])
            exempt.hostRules = [try .noPins(written)]
            for host in spellings { #expect(!exempt.forbidsPlainText(to: host), "\(host)") }
            // A network without a translator may have any server there.
            #expect(exempt.rule(for: translated) == nil && exempt.forbidsPlainText(to: translated))
        }
        let both = policy(try .pins("127.0.0.1", unmet), try .noPins("::ffff:127.0.0.1"))
        #expect(both.rule(for: "127.0.0.1") == nil && both.forbidsPlainText(to: "::ffff:127.0.0.1"))
        let own = policy(try .pins("127.0.0.1", unmet), try .noPins("64:ff9b::127.0.0.1"))
        #expect(!own.forbidsPlainText(to: translated) && own.forbidsPlainText(to: spellings[1]))
    }

    @Test func `what a look for a rule costs does not grow with their number`() throws {
        let growth = try CPUTime.growth(from: 100, to: 3_200) { count in
            let policy = SecurityPolicy()
            policy.hostRules = try (0..<count).map { number in
                try .pins(number % 3 == 0 ? "*.h\(number).test" : "h\(number).test", unmet)
            }
            for number in 0..<count {
                #expect(policy.rule(for: "a.h\(number).test") == nil || number % 3 == 0)
                #expect(policy.forbidsPlainText(to: "h\(number).test") == (number % 3 != 0))
            }
        }
        #expect(growth < 8)
    }

    @Test("a host goes without pins only if a rule says so, T-TLS-28")
    func noPins() throws {
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [try CertificateAuthority().certificate])
        policy.hostRules = [try .noPins("api.example.com")]

        #expect(policy.evaluate(trust("api.example.com")) == .accept)
        #expect(policy.evaluate(trust("example.com")).rule == "pinned public keys")
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        let stranger = ServerTrust(servedChain: site.chain, host: "api.example.com", anchors: .certificates([]))
        #expect(policy.evaluate(stranger).rule?.hasPrefix("untrusted") == true)
    }

    @Test func `a strict policy refuses hosts without a rule`() throws {
        let policy = policy(try .pins("*.example.com", wanted))
        policy.refusesHostsWithoutRule = true

        #expect(policy.evaluate(trust("api.example.com")) == .accept)
        #expect(policy.evaluate(trust("other.test")).rule == "host without a rule")
        #expect(policy.forbidsPlainText(to: "other.test"))
    }

    @Test func `a policy pins if its mode, its strictness or one enforced rule does`() throws {
        var reported = unmet
        reported.isReportOnly = true
        let idle = policy(try .noPins("a.test"), try .pins("b.test", reported))
        let strict = policy()
        strict.refusesHostsWithoutRule = true

        #expect(!policy().isPinning && !idle.isPinning)
        #expect(policy(try .noPins("a.test"), try .pins("b.test", unmet)).isPinning)
        #expect(strict.isPinning)
        #expect(SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate]).isPinning)
        #expect(SecurityPolicy(pinningMode: .certificate, certificates: [site.certificate]).isPinning)
    }

    @Test func `a backup pin counts like one in use, and so does a certificate`() throws {
        let byBackup = PinSet(unmet.pins, backups: wanted.backupPins)
        let byCertificate = PinSet([.certificate(root.certificate)])

        #expect(policy(try .pins("other.test", byBackup)).evaluate(trust("other.test")) == .accept)
        #expect(policy(try .pins("other.test", byCertificate)).evaluate(trust("other.test")) == .accept)
        #expect(policy(try .pins("other.test", unmet)).evaluate(trust("other.test")) != .accept)
        #expect(policy(try .pins("other.test", PinSet([Pin]()))).evaluate(trust("other.test")) != .accept)
    }

    // MARK: - The end of a set

    @Test(arguments: [PinSet.Choice.failOpen, .failClosed])
    func `after its end a set refuses or lets through, as it says`(choice: PinSet.Choice) throws {
        let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())
        var (met, open) = (wanted, unmet)
        met.expiry = PinSet.Expiry(end, choice)
        open.expiry = PinSet.Expiry(end, choice)
        func verdict(_ set: PinSet, _ seconds: TimeInterval) throws -> Bool {
            try policy(.pins("other.test", set)).evaluate(trust("other.test", at: end + seconds)) == .accept
        }

        #expect(try verdict(met, 0))
        #expect(try !verdict(open, 0))
        #expect(try verdict(met, 1) == (choice == .failOpen))
        #expect(try verdict(open, 1) == (choice == .failOpen))
    }

    // MARK: - Reports

    @Test func `a rule that only reports accepts, and says on its own queue what is missing`() async throws {
        var set = unmet
        set.isReportOnly = true
        let policy = policy(try .pins("**.example.com", set), try .pins("other.test", unmet))
        let (reports, continuation) = AsyncStream.makeStream(of: PinningReport.self)
        // Set on the policy later than the copy is made.
        let frozen = policy.snapshot()
        policy.reportHandler = { report in
            continuation.yield(report)
        }

        #expect(frozen.evaluate(trust("api.example.com")) == .accept)
        #expect(frozen.evaluate(trust("other.test")) != .accept)

        var iterator = reports.makeAsyncIterator()
        let first = try #require(await iterator.next())
        let second = try #require(await iterator.next())
        #expect(first.host == "api.example.com" && !first.isRefused)
        #expect(first.rule == policy.rule(for: "api.example.com"))
        #expect(first.servedChain == site.chain)
        #expect(first.pins == [site.certificate.pin, root.certificate.pin])
        #expect(first.explanation.contains(site.certificate.pin.description))
        #expect(second.host == "other.test" && second.isRefused)
        #expect(!policy.forbidsPlainText(to: "api.example.com") && policy.forbidsPlainText(to: "other.test"))
    }

    @Test func `a slow handler delays no handshake, and misses what comes after 100 reports`() async throws {
        let policy = policy(try .pins("other.test", unmet), try .pins("api.example.com", unmet))
        let gate = DispatchSemaphore(value: 0)
        let (hosts, continuation) = AsyncStream.makeStream(of: String.self)
        policy.reportHandler = { report in
            gate.wait()
            continuation.yield(report.host)
        }

        for _ in 1...150 { #expect(policy.evaluate(trust("other.test")) != .accept) }
        for _ in 1...200 { gate.signal() }
        var heard = 0
        for await host in hosts {
            heard += 1
            if heard == 100 { _ = policy.evaluate(trust("api.example.com")) }
            if host == "api.example.com" { break }
        }

        // One may have been with the handler already when the others began to wait.
        #expect((101...102).contains(heard))
    }

    // MARK: - As text

    @Test("pins that are none are errors that name them, T-TLS-19")
    func malformedPins() {
        for text in [
            "", "sha256/", "sha1/AAAA", "sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY", "sha256/====", "x",
        ] {
            #expect(throws: PinError.self) { try PinSet([text]) }
            #expect(throws: PinError.self) { try PinSet([], backups: [text]) }
        }
        #expect { try PinSet(["sha1/AAAA"]) } throws: { "\($0)".contains("sha1/AAAA") }
    }

    @Test func `the error for a text that is no pin quotes at most 100 characters`() {
        for length in [99, 100, 101, 1000] {
            let text = String(repeating: "x", count: length)
            #expect { try Pin(text) } throws: { ($0 as? PinError)?.text == String(text.prefix(100)) }
        }
    }

    @Test func `rules can be kept as text`() throws {
        let text = """
            {"SSLPinningMode": 0, "hostRules": [
              {"hosts": "*.example.com", "pins": {"pins": ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="]}},
              {"hosts": "cdn.example.com", "noPins": true}
            ]}
            """

        let policy = try JSONDecoder().decode(SecurityPolicy.self, from: Data(text.utf8))

        #expect(policy.hostRules == [try .pins("*.example.com", unmet), try .noPins("cdn.example.com")])
        for broken in [
            #"{"hosts": "*.example.com"}"#, #"{"hosts": "a", "noPins": false}"#, #"{"hosts": "a..b", "noPins": true}"#,
            #"{"hosts": "a", "noPins": true, "pins": {"pins": []}}"#, #"{"hosts": "a", "pins": {"pins": ["sha256/"]}}"#,
            #"{"hosts": "a", "pins": {"pins": ["certificate/AAAA"]}}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(HostRule.self, from: Data(broken.utf8))
            }
        }
    }

    @Test(arguments: [
        (#"{"SSLPinningMode": 0, "hostRule": []}"#, "", "hostRule"),
        (#"{"SSLPinningMode": 0, "refusesHostsWithoutRules": true}"#, "", "refusesHostsWithoutRules"),
        (#"{"SSLPinningMode": 0, "hostRules": [{"host": "a", "noPins": true}]}"#, "hostRules.Index 0", "host"),
        (
            #"{"SSLPinningMode": 0, "hostRules": [{"hosts": "a", "pins": {"pins": [], "backups": []}}]}"#,
            "hostRules.Index 0.pins", "backups"
        ),
        (
            #"{"SSLPinningMode": 0, "hostRules": [{"hosts": "a", "pins": {"pins": [], "expiry": {"day": 0}}}]}"#,
            "hostRules.Index 0.pins.expiry", "day"
        ),
    ])
    func `a policy with a misspelt name cannot be read`(text: String, place: String, name: String) {
        #expect {
            try JSONDecoder().decode(SecurityPolicy.self, from: Data(text.utf8))
        } throws: { error in
            guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
            return context.codingPath.map(\.stringValue).joined(separator: ".") == place
                && context.debugDescription.hasPrefix("the name \"\(name)\" means nothing here; there are ")
        }
    }

    @Test(arguments: [
        (#"{"hosts": "a..b", "noPins": true}"#, "hosts"), (#"{"hosts": "a", "noPins": false}"#, "pins"),
    ])
    func `the error for a rule that cannot be read names the field`(text: String, field: String) {
        #expect {
            try JSONDecoder().decode(HostRule.self, from: Data(text.utf8))
        } throws: { error in
            guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
            return context.codingPath.map(\.stringValue) == [field]
        }
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
