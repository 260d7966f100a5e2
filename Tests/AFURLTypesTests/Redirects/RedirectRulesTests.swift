import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Redirect rules")
struct RedirectRulesTests {
    private func question(
        _ method: String = "GET",
        from: String,
        to locations: String...,
        status: Int = 302,
        fields: [String: String] = [:],
        body: RedirectRules.Body = .none,
        _ configure: (inout RedirectPolicy) -> Void = { _ in }
    ) throws -> RedirectRules.Question {
        var request = URLRequest(url: try #require(URL(string: from)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        var policy = RedirectPolicy()
        configure(&policy)
        let lines = locations.map { "Location: \($0)\r\n" }.joined()
        return RedirectRules.Question(
            request: request,
            source: try RequestURL(from),
            status: status,
            headers: try #require(HTTPHeaders(checkingBlock: Array(lines.utf8))),
            body: body,
            policy: policy
        )
    }

    private func proposal(_ question: RedirectRules.Question) throws -> RedirectRules.Proposal {
        guard case .follow(let proposal) = RedirectRules.decide(question) else {
            throw UnexpectedDecision(text: word(question))
        }
        return proposal
    }

    private struct UnexpectedDecision: Error { let text: String }

    private func word(_ question: RedirectRules.Question) -> String {
        switch RedirectRules.decide(question) {
        case .deliver: "deliver"
        case .follow(let proposal) where proposal.isForeign: "foreign \(proposal.request.url?.scheme ?? "")"
        case .follow(let proposal): "\(proposal.request.httpMethod ?? "") \(proposal.request.url?.absoluteString ?? "")"
        case .refuse(.tooMany): "too many"
        case .refuse(.unusable): "unusable"
        case .refuse(.ambiguous): "ambiguous"
        case .refuse(.plainText): "plain text"
        case .refuse(.foreignScheme): "foreign"
        case .refuse(.bodyIsGone): "body is gone"
        case .refuse(.bodyLeavesOrigin): "body leaves"
        case .refuse(.responseIsTaken): "response is taken"
        }
    }

    // MARK: - Methods

    @Test func `T-RED-12 the method changes by status, and nothing else`() throws {
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]
        let expected = [
            301: ["GET", "HEAD", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"],
            302: ["GET", "HEAD", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"],
            303: ["GET", "HEAD", "GET", "GET", "GET", "GET", "GET", "GET"],
            307: methods, 308: methods,
        ]
        for (status, results) in expected {
            for (method, result) in zip(methods, results) {
                let next = try proposal(question(method, from: "http://a.test/", to: "/b", status: status))
                #expect(next.request.httpMethod == result, "\(status) \(method)")
            }
        }
    }

    @Test func `T-RED-20 other statuses lead nowhere`() throws {
        for status in [200, 201, 300, 304, 305, 306, 309, 399, 401, 503] {
            #expect(try word(question(from: "http://a.test/", to: "/b", status: status)) == "deliver", "\(status)")
        }
    }

    @Test func `T-RED-13 with the body go all fields that describe it`() throws {
        let described = [
            "Content-Length": "4", "content-type": "text/plain", "Content-Encoding": "br", "Content-Language": "de",
            "Content-Location": "/x", "Transfer-Encoding": "chunked", "EXPECT": "100-continue", "Digest": "a=b",
            "Content-MD5": "x", "Content-Range": "bytes 0-1/2", "Repr-Digest": "x", "X-Mine": "stays",
        ]
        let next = try proposal(
            question("POST", from: "http://a.test/", to: "/b", status: 303, fields: described, body: .once)
        )

        #expect(next.request.allHTTPHeaderFields == ["X-Mine": "stays"])
        #expect(!next.keepsBody && next.request.httpBody == nil)
        let kept = try proposal(
            question("POST", from: "http://a.test/", to: "/b", status: 307, fields: described, body: .replayable)
        )
        #expect(kept.keepsBody && kept.request.allHTTPHeaderFields?.count == described.count)
    }

    @Test func `T-RED-13 with the body goes the leave to send one with GET`() throws {
        for (status, isKept) in [(301, true), (303, false), (307, true)] {
            var asked = try question(from: "http://a.test/", to: "/b", status: status, body: .replayable)
            asked.request.sendsBodyWithAnyMethod = true
            let next = try proposal(asked)
            #expect(next.request.sendsBodyWithAnyMethod == isKept && next.keepsBody == isKept, "\(status)")
        }
    }

    // MARK: - Secrets

    private static let secrets = [
        "Authorization", "authorization", "AUTHORIZATION", "Cookie", "cookie2", "Proxy-Authorization", "Proxy-Mine",
        "WWW-Authenticate", "X-Api-Key", "x-auth-token", "Referer", "Host",
    ]

    @Test(arguments: secrets)
    func `T-RED-01 T-RED-03 T-RED-04 T-RED-08 T-RED-27 a secret stays where it belongs`(name: String) throws {
        let fields = [name: "canary", "X-Plain": "1"]
        let away = try proposal(question(from: "http://a.test/", to: "http://b.test/", fields: fields))
        let home = try proposal(question(from: "http://a.test/", to: "/b", fields: fields))
        let down = try proposal(
            question(from: "https://a.test/", to: "http://a.test/", fields: fields) { $0.allowsPlainText = true }
        )

        #expect(down.request.allHTTPHeaderFields == ["X-Plain": "1"])
        #expect(away.request.allHTTPHeaderFields == ["X-Plain": "1"])
        #expect(home.request.allHTTPHeaderFields == fields)
    }

    @Test func `T-RED-08 a field that the caller marks is a secret too`() throws {
        let away = try proposal(
            question(from: "http://a.test/", to: "http://b.test/", fields: ["X-Mine": "canary"]) {
                $0.sensitiveFields = ["x-mine"]
            }
        )

        #expect(away.request.allHTTPHeaderFields == [:])
    }

    @Test func `T-RED-08 what a delegate has set itself goes where the delegate leads`() throws {
        let own = ["Host": "own", "Authorization": "own", "X-Plain": "1"]
        let fields = ["Host": "canary", "Authorization": "canary", "X-Plain": "1"]
        let proposed = try proposal(question(from: "http://a.test/", to: "/b", fields: fields))
        var request = proposed.request
        request.url = URL(string: "http://b.test/")

        let kept = RedirectRules.withoutSecrets(request, known: proposed.request, policy: RedirectPolicy())
        #expect(kept.allHTTPHeaderFields == ["X-Plain": "1"])
        for (name, value) in own { request.setValue(value, forHTTPHeaderField: name) }
        let set = RedirectRules.withoutSecrets(request, known: proposed.request, policy: RedirectPolicy())
        #expect(set.allHTTPHeaderFields == own)
    }

    @Test func `T-DUP-04 trailer fields that a delegate has set itself go where it leads, others as fields do`() throws
    {
        let policy = RedirectPolicy()
        var known = URLRequest(url: try #require(URL(string: "http://a.test/")))
        known.trailers = RequestTrailers("X-Sum", "X-Api-Key") { ["X-Sum": "9", "X-Api-Key": "canary"] }
        #expect(RedirectRules.withoutSecrets(known, known: known, policy: policy).trailers?.names == ["X-Sum"])

        var set = known
        set.trailers = RequestTrailers("X-Api-Key") { ["X-Api-Key": "own"] }
        #expect(RedirectRules.withoutSecrets(set, known: known, policy: policy).trailers == set.trailers)

        known.trailers = RequestTrailers("X-Api-Key") { ["X-Api-Key": "canary"] }
        #expect(RedirectRules.withoutSecrets(known, known: known, policy: policy).trailers == nil)
    }

    @Test func `T-RED-08 T-WSS-23 subprotocols of a WebSocket go to no other origin`() throws {
        for location in ["http://a.test/b", "http://b.test/"] {
            var question = try question(
                from: "http://a.test/",
                to: location,
                fields: ["Sec-WebSocket-Protocol": "token"]
            )
            question.request.change { $0.wire.value.webSocket = WebSocketHandshake(subprotocols: ["token"]) }
            let request = try proposal(question).request
            let handshake = try #require(request.contents.wire.webSocket)
            let stays = location == "http://a.test/b"
            #expect(handshake.subprotocols == (stays ? ["token"] : []))
            #expect(request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == (stays ? "token" : nil))
        }
    }

    @Test func `T-RED-02 T-RED-07 an origin is scheme, host and port`() throws {
        let origins = ["http://a.test", "http://a.test:8080", "https://a.test", "https://a.test:8443"]
        let others = ["http://sub.a.test", "http://test", "http://b.test", "http://127.0.0.1", "http://[::1]"]
        for from in origins {
            for to in origins + others {
                let next = try proposal(
                    question(from: "\(from)/", to: "\(to)/", fields: ["Authorization": "canary"]) {
                        $0.allowsPlainText = true
                    }
                )
                let keeps = next.request.value(forHTTPHeaderField: "Authorization") != nil
                #expect(keeps == (from == to) && next.leavesOrigin == (from != to), "\(from) \(to)")
            }
        }
        #expect(try !proposal(question(from: "http://A.test:80/", to: "http://a.test/b")).leavesOrigin)
    }

    @Test func `T-RED-02 an upgrade at the standard ports keeps them if that is asked for`() throws {
        func leaves(_ from: String, _ to: String) throws -> Bool {
            try proposal(question(from: from, to: to) { $0.keepsSecretsOnUpgrade = true }).leavesOrigin
        }

        #expect(try !leaves("http://a.test/", "https://a.test/"))
        #expect(try leaves("http://a.test:8080/", "https://a.test/"))
        #expect(try leaves("http://a.test/", "https://a.test:8443/"))
        #expect(try leaves("http://a.test/", "https://b.test/"))
    }

    /// Too long for a request.
    private static let longPath = String(repeating: "x", count: 70_000)

    @Test(
        "T-REQ-32 origins are read as a request is",
        arguments: [
            ("http://h.test", "http://H.test:80/x?y#z", true), ("http://h.test/", "https://h.test/", false),
            ("https://h.test:443/", "https://h.test", true), ("https://h.test", "https://h.test:444", false),
            ("http://u:p@h.test/", "http://h.test/", true), ("http://h.test/", "http://h.test./", true),
            ("http://h.test@evil.test/", "http://h.test/", false), ("http://127.0.0.1/", "http://127.0.0.2/", false),
            ("http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", true), ("http://h.test/", "http://evil.test/h.test", false),
            ("demo://a/x", "demo://a/y?z", true), ("demo://a/x", "demo://b/x", false),
            ("demo:///x", "demo:///y", true), ("demo:///x", "demo://y/x", false), ("demo:x", "demo:y", true),
            ("http://h.test/\(longPath)", "http://h.test/", true),
            ("http://h.test/", "http://h.tes/\(longPath)", false),
            ("http://h.test/\(longPath)", "https://h.test/", false),
            ("demo://a/x", "http://a/x", false), ("file:///etc/passwd", "http://a/x", false),
        ]
    )
    func origins(one: String, other: String, areSame: Bool) throws {
        let (one, other) = (try #require(URL(string: one)), try #require(URL(string: other)))

        #expect(RedirectPolicy.haveSameOrigin(one, other) == areSame)
        #expect(RedirectPolicy.haveSameOrigin(other, one) == areSame)
    }

    @Test func `T-STS-05 over TLS a URL keeps its port, unless that is the one of http`() throws {
        let table: [(String, String?)] = [
            ("http://a.test/b?c#d", "https://a.test/b?c#d"), ("http://a.test:80/b", "https://a.test/b"),
            ("http://a.test:8080/", "https://a.test:8080/"), ("http://a.test:800?x", "https://a.test:800?x"),
            ("http://[::1]/", "https://[::1]/"), ("http://[::1]:80/", "https://[::1]/"),
            ("http://[::]/", "https://[::]/"),
            ("http://[2001:db8::80]:81/", "https://[2001:db8::80]:81/"),
            ("ws://a.test/", "https://a.test/"), ("https://a.test/", nil), ("ftp://a.test/", nil),
        ]
        for (text, expected) in table {
            #expect(try #require(URL(string: text)).withTLS?.absoluteString == expected, "\(text)")
        }
    }

    @Test func `T-RED-06 a field that was dropped on the way never comes back`() throws {
        let origins = ["http://a.test", "http://b.test", "http://c.test"]
        for chain in 0..<81 {
            let hops = [chain / 27, chain / 9 % 3, chain / 3 % 3, chain % 3].map { origins[$0] }
            var current = "http://a.test/0"
            var request = URLRequest("GET", try #require(URL(string: current)), fields: ["Authorization": "canary"])
            var hasLeft = false
            for (index, origin) in hops.enumerated() {
                var question = try question(from: current, to: "\(origin)/\(index)")
                question.request = request
                request = try proposal(question).request
                hasLeft = hasLeft || origin != "http://a.test"
                #expect((request.value(forHTTPHeaderField: "Authorization") == nil) == hasLeft, "\(hops)")
                current = "\(origin)/\(index)"
            }
        }
    }

    // MARK: - Where to

    @Test func `T-RED-09 https to http is refused unless allowed`() throws {
        #expect(try word(question(from: "https://a.test/", to: "http://a.test/")) == "plain text")
        #expect(try word(question(from: "https://a.test/", to: "//a.test/")) == "GET https://a.test/")
        let allowed = try question(from: "https://a.test/", to: "http://a.test/b") { $0.allowsPlainText = true }
        #expect(word(allowed) == "GET http://a.test/b")
    }

    @Test(arguments: [
        "file:///etc/passwd", "data:text/plain,x", "ftp://b.test/", "unix:/run/x", "javascript:x", "about:blank",
        "myapp://callback?code=1", "mailto:a@b.test", "ws://b.test/", "gopher://b.test/", "blob:x", "view-source:x",
        "jar:http://x!/", "ldap://b.test/", "smb://b.test/x", "tel:1", "urn:x:y", "chrome://x", "httpx://b.test/",
        "https+unix://x/",
    ])
    func `T-RED-10 a redirect to another scheme than http is not followed, and shown to the delegate without secrets`(
        location: String
    ) throws {
        let fields = ["Authorization": "a", "Cookie": "b", "X-Other": "c", "Host": "d"]
        let proposal = try proposal(question(from: "http://a.test/", to: location, fields: fields))

        #expect(proposal.isForeign && proposal.leavesOrigin)
        guard case .foreignScheme(let scheme) = proposal.objection else {
            Issue.record("no objection")
            return
        }
        #expect(scheme.text == String(location.prefix { $0 != ":" }))
        #expect(proposal.request.url?.absoluteString == location)
        #expect(proposal.request.allHTTPHeaderFields == ["X-Other": "c"])

        var last = try question(from: "http://a.test/", to: location)
        last.count = 20
        #expect(word(last) == "too many")
        let off = try question(from: "http://a.test/", to: location) { $0.followsRedirects = false }
        #expect(word(off) == "deliver")
    }

    @Test func `T-RED-10 a body goes to no other scheme, unless the delegate leads it elsewhere`() throws {
        let once = try question("PUT", from: "http://a.test/", to: "ftp://b.test/", status: 307, body: .once)
        let again = try question("PUT", from: "http://a.test/", to: "ftp://b.test/", status: 307, body: .replayable)

        #expect(word(once) == "foreign")
        #expect(try proposal(again).keepsBody && proposal(again).objection != nil)
        #expect(try !proposal(question("PUT", from: "http://a.test/", to: "ftp:x", status: 303, body: .once)).keepsBody)
        #expect(try !proposal(question("PUT", from: "http://a.test/", to: "ftp:x", status: 307)).keepsBody)
    }

    @Test func `T-RED-16 T-RED-19 no, bad and several locations`() throws {
        #expect(try word(question(from: "http://a.test/", to: "http://exa%0d%0aX/")) == "unusable")
        #expect(try word(question(from: "http://a.test/", to: "\\\\b.test\\x")) == "unusable")
        #expect(try word(question(from: "http://a.test/", to: "http://b@c@d/")) == "unusable")
        #expect(try word(question(from: "http://a.test/", to: "/b", "/c")) == "ambiguous")
        #expect(try word(question(from: "http://a.test/", to: "/b", "/b")) == "GET http://a.test/b")
        for empty in ["", " ", "\t "] {
            #expect(try word(question(from: "http://a.test/x?y", to: empty)) == "deliver")
        }
        #expect(try word(question(from: "http://a.test/", to: "", "/b")) == "ambiguous")
        #expect(try word(question(from: "http://a.test/", to: "", "")) == "deliver")
        var missing = try question(from: "http://a.test/", to: "/b")
        missing.headers = try #require(HTTPHeaders(checkingBlock: Array("X: y\r\n".utf8)))
        #expect(word(missing) == "deliver")
        var small = try question(from: "http://a.test/", to: "/b")
        small.headers = try #require(HTTPHeaders(checkingBlock: Array("location: /c\r\n".utf8)))
        #expect(word(small) == "GET http://a.test/c")
    }

    @Test func `T-RED-18 the fragment stays unless there is another`() throws {
        #expect(try word(question(from: "http://a.test/x#here", to: "/y")) == "GET http://a.test/y#here")
        #expect(try word(question(from: "http://a.test/x#here", to: "/y#there")) == "GET http://a.test/y#there")
    }

    @Test func `T-RED-11 the limit is the policy's`() throws {
        var last = try question(from: "http://a.test/", to: "/b")
        last.count = 19
        #expect(word(last) == "GET http://a.test/b")
        last.count = 20
        #expect(word(last) == "too many")
        var none = try question(from: "http://a.test/", to: "/b") { $0.maximumCount = -5 }
        none.count = 0
        #expect(word(none) == "too many")
    }

    @Test func `T-RED-14 T-RED-15 bodies follow only where they can and may`() throws {
        #expect(try word(question("PUT", from: "http://a.test/", to: "/b", status: 307, body: .once)) == "body is gone")
        #expect(try word(question("PUT", from: "http://a.test/", to: "/b", status: 303, body: .once)).hasPrefix("GET"))
        let away = try proposal(
            question("PUT", from: "http://a.test/", to: "http://b.test/", status: 308, body: .replayable)
        )
        #expect(away.objection != nil)
        #expect(
            try proposal(question("PUT", from: "http://a.test/", to: "/b", status: 308, body: .replayable))
                .objection == nil
        )
        #expect(
            try proposal(question("PUT", from: "http://a.test/", to: "http://b.test/", status: 308)).objection == nil
        )
        let allowed = try proposal(
            question("PUT", from: "http://a.test/", to: "http://b.test/", status: 308, body: .replayable) {
                $0.sendsBodyToOtherOrigins = true
            }
        )
        #expect(allowed.objection == nil && allowed.keepsBody)
    }

    // MARK: - A second opinion

    /// The rules in other words: by what is true of the result, not by steps.
    @Test func `random redirects keep to the rules`() throws {
        var generator = SeededGenerator(seed: 4 &+ ModelSeed.first)
        let hosts = ["a.test", "b.test", "sub.a.test", "127.0.0.1"]
        let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]
        let names = ["Authorization", "Cookie", "X-Api-Key", "X-Mine", "Accept", "Content-Type", "Referer", "Range"]
        let count = ProcessInfo.processInfo.environment["AFNET_REDIRECT_QUESTIONS"].flatMap(Int.init) ?? 100_000
        for _ in 0..<count {
            func origin() -> (scheme: String, host: String, port: Int) {
                let scheme = generator.pick(["http", "https"])
                return (scheme, generator.pick(hosts), generator.pick([scheme == "http" ? 80 : 443, 8080]))
            }
            let (from, to) = (origin(), origin())
            let status = generator.pick([301, 302, 303, 307, 308, 300, 304])
            let method = generator.pick(methods)
            var fields: [String: String] = [:]
            for name in names where generator.pick([true, false]) { fields[name] = "v" }
            let body: RedirectRules.Body = generator.pick([.none, .replayable, .once])
            let plain = generator.pick([true, false])
            var question = try question(
                method,
                from: "\(from.scheme)://\(from.host):\(from.port)/x",
                to: "\(to.scheme)://\(to.host):\(to.port)/y",
                status: status,
                fields: fields,
                body: body
            ) {
                $0.sensitiveFields = ["X-MINE"]
                $0.allowsPlainText = plain
            }
            question.count = generator.pick([0, 19, 20])
            let keeps = status == 307 || status == 308 || ((status == 301 || status == 302) && method != "POST")
            let isSame = from == to

            switch RedirectRules.decide(question) {
            case .deliver: #expect(status == 300 || status == 304)
            case .refuse(.tooMany): #expect(question.count == 20)
            case .refuse(.plainText): #expect(from.scheme == "https" && to.scheme == "http" && !plain)
            case .refuse(.bodyIsGone): #expect(keeps && body == .once)
            case .refuse: Issue.record("refused for nothing")
            case .follow(let next):
                let sent = next.request.allHTTPHeaderFields ?? [:]
                let secret: Set<String> = isSame ? [] : ["Authorization", "Cookie", "X-Api-Key", "X-Mine", "Referer"]
                let about: Set<String> = keeps ? [] : ["Content-Type"]
                #expect(Set(sent.keys) == Set(fields.keys).subtracting(secret).subtracting(about))
                #expect(next.leavesOrigin != isSame && next.keepsBody == (keeps && body != .none))
                #expect(next.request.httpMethod == (keeps || method == "HEAD" ? method : "GET"))
                #expect(question.count < 20 && (plain || from.scheme == "http" || to.scheme == "https"))
                #expect((next.objection != nil) == (next.keepsBody && !isSame))
            }
        }
    }

    @Test(
        arguments: [
            ("http://a.test/p?q=1#f", "http://b.test/", "http://a.test/p?q=1"),
            ("http://u:p@a.test:81/", "https://b.test/", "http://a.test:81/"),
            ("https://u:p@a.test/p?q=1#f", "https://A.test:443/x", "https://a.test/p?q=1"),
            ("https://a.test/p", "http://a.test/p", nil), ("https://a.test/p", "https://b.test/", nil),
            ("https://a.test/p", "https://a.test:444/", nil), ("data:,a", "http://a.test/", nil),
            ("file:///a", "http://a.test/", nil),
        ] as [(String, String, String?)]
    )
    func `T-RED-27 Referer says nothing of user info and fragments, and nothing of https to others`(
        source: String,
        target: String,
        expected: String?
    ) throws {
        let (source, target) = (try #require(URL(string: source)), try #require(URL(string: target)))
        #expect(RedirectPolicy.referer(from: source, to: target) == expected)
    }
}
