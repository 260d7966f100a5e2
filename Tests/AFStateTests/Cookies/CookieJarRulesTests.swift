import AFWire
import Testing

@testable import AFState

extension CookieRules {
    /// The jar and the rules of admission by themselves, without the store around them.
    struct JarRules {
        private let suffixes = CookieRules.suffixes
        private var limits = CookieLimits.standard

        private static func content(
            _ name: String,
            for domain: String = "a.com",
            isHostOnly: Bool = true,
            path: String = "/",
            expires: Int64? = nil,
            isSecure: Bool = false
        ) -> CookieContent {
            CookieContent(
                name: Array(name.utf8),
                value: Array("1".utf8),
                domain: domain,
                isHostOnly: isHostOnly,
                path: Array(path.utf8),
                expires: expires,
                isSecure: isSecure
            )
        }

        private static func stored(_ content: CookieContent, order: UInt64 = 1) -> StoredCookie {
            StoredCookie(content: content, created: 1000, order: order, lastUse: order)
        }

        private func names(_ jar: CookieJar) -> [String] {
            jar.cookies.map { String(decoding: $0.content.name, as: UTF8.self) }
        }

        private func sent(_ jar: inout CookieJar, to url: String) throws -> String? {
            jar.field(for: try CookieRules.question(url), now: 1000, suffixes: suffixes)
                .map { String(decoding: $0, as: UTF8.self) }
        }

        // MARK: - Time

        @Test func `the jar says whether a cookie has ended, and is empty without one`() throws {
            var jar = CookieJar()
            #expect(jar.isEmpty)
            try jar.store(Self.content("a", expires: 1100), isSecured: true, now: 1000, suffixes: suffixes)

            #expect(!jar.isEmpty)
            let ended = [1099, 1100, 1200].map { jar.advance(to: $0) }

            #expect(ended == [false, true, false] && jar.isEmpty && jar.domains.isEmpty)
        }

        @Test func `a clock that is set back lengthens no life`() throws {
            var jar = CookieJar()
            try jar.store(Self.content("a", expires: 1100), isSecured: true, now: 1000, suffixes: suffixes)

            jar.advance(to: 900)

            #expect(jar.cookies.map(\.content.expires) == [1100])
        }

        @Test func `a life is as long as the server says, but not longer than the limit`() throws {
            let limit = 1000 + CookieLimits.standard.lifetime
            for (attributes, expected) in [
                ("Max-Age=1", 1001), ("Max-Age=0", CookieContent.ended), ("Max-Age=99999999999", limit),
                ("Expires=Thu, 01 Jan 1970 00:20:00 GMT", 1200), ("Expires=Fri, 01 Jan 2100 00:00:00 GMT", limit),
                ("Secure", nil),
            ] as [(String, Int64?)] {
                #expect(try CookieRules.admit("a=b; \(attributes)", from: "https://a.com/").expires == expected)
            }
        }

        // MARK: - Removing and restoring

        @Test func `nothing is left of a cookie that is removed`() throws {
            var jar = CookieJar()
            let content = Self.content("a")
            try jar.store(content, isSecured: true, now: 1000, suffixes: suffixes)

            let removed = [jar.remove(content.key), jar.remove(content.key)]

            #expect(removed.map(\.?.content) == [content, nil])
            #expect(jar.isEmpty && jar.domains.isEmpty)
        }

        @Test func `an epoch ends when a cookie goes, and not when another one takes its place`() throws {
            var jar = CookieJar()
            func isNewEpoch(_ change: (inout CookieJar) throws -> Void) rethrows -> Bool {
                let before = jar.epoch
                try change(&jar)
                return jar.epoch != before
            }
            func store(_ content: CookieContent, at now: Int64 = 1000) throws -> Bool {
                try isNewEpoch { try $0.store(content, isSecured: true, now: now, suffixes: suffixes) }
            }
            #expect(jar.epoch != CookieJar().epoch && jar.epoch != .none)
            var (rotated, ended) = (Self.content("a"), Self.content("a"))
            rotated.value = Array("2".utf8)
            ended.expires = CookieContent.ended
            #expect(try !store(Self.content("a")))
            #expect(try !store(rotated))
            #expect(try store(ended))
            #expect(try !store(ended))
            #expect(isNewEpoch { $0.remove(rotated.key) } == false)
            #expect(try !store(rotated))
            #expect(isNewEpoch { $0.remove(rotated.key) })
            #expect(try !store(rotated))
            #expect(isNewEpoch { $0.removeAll { _ in false } } == false)
            #expect(isNewEpoch { $0.removeAll { _ in true } })
            rotated.expires = 1100
            #expect(try !store(rotated))
            #expect(isNewEpoch { $0.advance(to: 1099) } == false)
            #expect(isNewEpoch { $0.advance(to: 1101) })
        }

        @Test func `what is restored replaces its like, and comes before what is stored later`() throws {
            var jar = CookieJar()
            for order: UInt64 in [40, 50] {
                jar.restore(Self.stored(Self.content("old"), order: order), now: 1000, suffixes: suffixes)
            }
            try jar.store(Self.content("new"), isSecured: true, now: 1000, suffixes: suffixes)

            #expect(jar.count == 2)
            #expect(try sent(&jar, to: "http://a.com/") == "old=1; new=1")
        }

        @Test func `what has ended or belongs to a public suffix is not restored`() {
            var jar = CookieJar()
            for content in [
                Self.content("ended", expires: 1000), Self.content("suffix", for: "co.uk", isHostOnly: false),
                Self.content("__Host-a"), Self.content("good", expires: 1001), Self.content("host", for: "co.uk"),
            ] {
                jar.restore(Self.stored(content), now: 1000, suffixes: suffixes)
            }

            #expect(Set(names(jar)) == ["good", "host"])
        }

        @Test func `the limits hold for what is restored`() {
            var limits = limits
            limits.perDomain = 2
            var jar = CookieJar(limits: limits)
            for order: UInt64 in 1...3 {
                jar.restore(Self.stored(Self.content("c\(order)"), order: order), now: 1000, suffixes: suffixes)
            }

            #expect(names(jar) == ["c2", "c3"])
        }

        // MARK: - Another list of public suffixes

        @Test func `T-COO-04 new suffix rules drop what they forbid, and nothing else`() throws {
            var jar = CookieJar()
            let content = [
                Self.content("forbidden", for: "github.io", isHostOnly: false), Self.content("own", for: "github.io"),
                Self.content("below", for: "me.github.io", isHostOnly: false), Self.content("other"),
            ]
            let former = CookieRules.list("com\nio\n")
            for content in content { try jar.store(content, isSecured: true, now: 1000, suffixes: former) }

            jar.judge(by: suffixes)

            #expect(names(jar) == ["own", "below", "other"] && jar.count == 3)
        }

        @Test(arguments: [(2, "victim"), (3, "n0")])
        func `T-COO-21 new suffix rules count the cookies of a site anew`(hosts: Int, loser: String) throws {
            var limits = limits
            (limits.perDomain, limits.total) = (2, hosts + 1)
            var jar = CookieJar(limits: limits)
            let (former, later) = (CookieRules.list("com\nco.com\n"), CookieRules.list("com\n"))
            let victim = Self.content("victim", for: "victim.com")
            try jar.store(victim, isSecured: true, now: 1000, suffixes: former)
            for number in 0..<hosts {
                let content = Self.content("n\(number)", for: "h\(number).co.com")
                try jar.store(content, isSecured: true, now: 1000, suffixes: former)
            }

            // The hosts are of one site now. It loses its own cookies only if it has more than a domain may have.
            for _ in 1...2 { jar.judge(by: later) }
            try jar.store(Self.content("last", for: "other.com"), isSecured: true, now: 1000, suffixes: later)

            let all = ["victim"] + (0..<hosts).map { "n\($0)" } + ["last"]
            #expect(names(jar) == all.filter { $0 != loser })
        }

        // MARK: - Refusals

        @Test func `each refusal of a server's cookie names its rule`() throws {
            let (plain, secured) = ("http://www.a.com/", "https://www.a.com/")
            for (line, url, document, expected) in [
                ("a=b; Secure", plain, nil, .notSecured), ("a=b; Domain=com", plain, nil, .publicSuffix),
                ("a=b; Domain=exämple.com", plain, nil, .foreignDomain),
                ("a=b; Domain=b.com", plain, nil, .foreignDomain),
                ("a=b; Domain=0.0.1", "http://127.0.0.1/", nil, .foreignDomain),
                ("__Host-a=b; Secure; Path=/x", secured, nil, .prefix), ("__Secure-a=b", secured, nil, .prefix),
                ("_ _Host-a=b; Secure; Path=/", secured, nil, .prefix),
                ("a=b; SameSite=Lax", plain, "http://b.com/", .crossSite),
                ("a=b; SameSite=Strict", plain, "http://b.com/", .crossSite),
                ("a=b; SameSite=None", plain, "http://b.com/", nil), ("a=b; SameSite=Lax", plain, "http://a.com/", nil),
            ] as [(String, String, String?, CookieRefusal?)] {
                #expect(try CookieRules.refusal(of: line, from: url, in: document) == expected, "\(line)")
            }
        }

        @Test func `T-COO-12 a control hides no prefix`() {
            let disguised = Self.content("_\u{7F}_Host-a", isSecure: true)
            #expect(throws: CookieRefusal.prefix) { try CookieAdmission.checkPrefix(disguised, hasPath: true) }
        }

        @Test func `a program sets what some server could set`() {
            func refusal(_ content: CookieContent) -> CookieRefusal? {
                do throws(CookieRefusal) {
                    try CookieAdmission.check(content, suffixes: suffixes)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(refusal(Self.content("a", for: "co.uk", isHostOnly: false)) == .publicSuffix)
            #expect(refusal(Self.content("a", for: "co.uk")) == nil)
            #expect(refusal(Self.content("__Host-a", isSecure: true)) == nil)
            #expect(refusal(Self.content("__Host-a")) == .prefix)
        }

        @Test func `what a program sets for a server belongs to that server`() throws {
            func refusal(_ content: CookieContent, from url: String, in document: String? = nil) throws
                -> CookieRefusal?
            {
                let question = try CookieRules.question(url, in: document)
                do throws(CookieRefusal) {
                    try CookieAdmission.check(content, from: question, suffixes: suffixes)
                    return nil
                } catch {
                    return error
                }
            }
            var lax = Self.content("a")
            lax.sameSite = .lax
            let secured = Self.content("a", isSecure: true)
            #expect(try refusal(Self.content("a"), from: "http://b.com/") == .foreignDomain)
            #expect(try refusal(Self.content("a"), from: "http://www.a.com/") == .foreignDomain)
            #expect(try refusal(Self.content("a", isHostOnly: false), from: "http://www.a.com/") == nil)
            #expect(try refusal(secured, from: "http://a.com/") == .notSecured)
            #expect(try refusal(secured, from: "https://a.com/") == nil)
            #expect(try refusal(Self.content("__Host-a"), from: "https://a.com/") == .prefix)
            #expect(try refusal(lax, from: "http://a.com/", in: "http://b.com/") == .crossSite)
        }

        @Test func `T-COO-11 the refusal to cover a secured cookie names its rule`() throws {
            var jar = CookieJar()
            try jar.store(Self.content("a", isSecure: true), isSecured: true, now: 1000, suffixes: suffixes)

            #expect(throws: CookieRefusal.coversSecured) {
                try jar.store(Self.content("a"), isSecured: false, now: 1000, suffixes: suffixes)
            }
            #expect(jar.cookies.map(\.content.isSecure) == [true])
        }

        // MARK: - Sizes and separators

        @Test func `a cookie is harmless up to its limits`() {
            var content = Self.content("n")
            content.value = [UInt8](repeating: UInt8(ascii: "v"), count: 4095)
            #expect(content.isHarmless)
            content.value.append(UInt8(ascii: "v"))
            #expect(!content.isHarmless)

            content = Self.content("n", path: "/" + String(repeating: "p", count: RequestURL.maximumLength - 1))
            #expect(content.isHarmless)
            content.path.append(UInt8(ascii: "p"))
            #expect(!content.isHarmless)
        }

        @Test func `only an equals sign in the wrong place and white space at an end are ambiguous`() {
            for (name, value, isUnambiguous) in [
                ("n", "v", true), ("n", "a=b", true), ("n", "", true), ("", "v", true), ("", "a=b", false),
                ("a=b", "v", false), (" n", "v", false), ("n ", "v", false), ("n", "\tv", false), ("n", "v\t", false),
                ("n", "a b", true),
            ] {
                var content = Self.content(name)
                content.value = Array(value.utf8)
                #expect(content.isUnambiguous == isUnambiguous, "\(name)=\(value)")
            }
        }

        // MARK: - Hosts, ports and paths

        @Test func `T-COO-05 an address has no parents`() throws {
            var jar = CookieJar()
            let content = Self.content("a", for: "3.4", isHostOnly: false)
            try jar.store(content, isSecured: true, now: 1000, suffixes: suffixes)

            #expect(try sent(&jar, to: "http://1.2.3.4/") == nil)
            #expect(!CookieMatching.host("a.", isName: true, matches: ""))
        }

        @Test func `a cookie whose list of ports is empty goes to every port`() throws {
            var jar = CookieJar()
            var content = Self.content("a")
            content.details = CookieContent.Details()
            try jar.store(content, isSecured: true, now: 1000, suffixes: suffixes)

            #expect(try sent(&jar, to: "http://a.com:8080/") == "a=1")
        }

        @Test func `the folder of a path that has no slash in front is the root`() {
            for path in ["", "x", "x/y", "x/y/z"] {
                #expect(CookieMatching.defaultPath(Array(path.utf8)) == Array("/".utf8))
            }
        }
    }
}
