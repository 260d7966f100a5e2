import AFBase
import AFWire
import Testing

@Suite("Lists of challenges")
struct ChallengeListTests {
    private static func text(_ challenge: Challenge) -> String {
        let parameters = challenge.parameters.map { "\($0.name)=<\($0.text)>" }
        return ([challenge.scheme] + (challenge.token68.map { ["[\($0)]"] } ?? []) + parameters).joined(separator: " ")
    }

    private static let rows: [(String, [String])] = [
        ("Basic realm=\"x\"", ["basic realm=<x>"]),
        ("basic realm=\"x\"", ["basic realm=<x>"]),
        ("bAsIc ReAlM=\"x\"", ["basic realm=<x>"]),
        ("Basic realm=x", ["basic realm=<x>"]),
        ("Basic realm=\"x\",", ["basic realm=<x>"]),
        (",Basic realm=\"x\"", ["basic realm=<x>"]),
        (" , \t,Basic realm=\"x\" , ,", ["basic realm=<x>"]),
        ("Basic realm=\"x\", charset=\"UTF-8\"", ["basic realm=<x> charset=<UTF-8>"]),
        ("Basic charset=\"UTF-8\", realm=\"x\"", ["basic charset=<UTF-8> realm=<x>"]),
        ("Basic charset=UTF-8,realm=x", ["basic charset=<UTF-8> realm=<x>"]),
        ("Basic realm=\"x\", unknown=1", ["basic realm=<x> unknown=<1>"]),
        ("Basic realm=\"x, y\"", ["basic realm=<x, y>"]),
        ("Basic realm=\"x=y\"", ["basic realm=<x=y>"]),
        ("Basic realm=\"Basic realm=y\"", ["basic realm=<Basic realm=y>"]),
        ("Basic realm=\"\\\"\"", ["basic realm=<\">"]),
        ("Basic realm=\"\\\\\"", ["basic realm=<\\>"]),
        ("Basic realm=\"\\a\"", ["basic realm=<a>"]),
        ("Basic realm=\"a\\\"b\\\"c\"", ["basic realm=<a\"b\"c>"]),
        ("Basic realm = \"x\"", ["basic realm=<x>"]),
        ("Basic realm\t=\t\"x\"", ["basic realm=<x>"]),
        ("Basic realm=\"x\" , Bearer", ["basic realm=<x>", "bearer"]),
        ("Basic realm=\"x\", Basic realm=\"y\"", ["basic realm=<x>", "basic realm=<y>"]),
        ("Bearer", ["bearer"]),
        ("Bearer realm=\"x\"", ["bearer realm=<x>"]),
        ("Bearer error=\"invalid_token\"", ["bearer error=<invalid_token>"]),
        ("Bearer realm=x, scope=\"a b\", Basic realm=x", ["bearer realm=<x> scope=<a b>", "basic realm=<x>"]),
        ("Bearer, Basic realm=x", ["bearer", "basic realm=<x>"]),
        ("Negotiate", ["negotiate"]),
        ("Negotiate, NTLM", ["negotiate", "ntlm"]),
        ("Negotiate, NTLM, Basic realm=x", ["negotiate", "ntlm", "basic realm=<x>"]),
        ("Negotiate YII=, Basic realm=x", ["negotiate [YII=]", "basic realm=<x>"]),
        ("Negotiate YII==, Basic realm=x", ["negotiate [YII==]", "basic realm=<x>"]),
        ("NTLM TlRM", ["ntlm [TlRM]"]),
        ("NTLM TlRM,Basic realm=x", ["ntlm [TlRM]", "basic realm=<x>"]),
        ("Basic realm=x, Negotiate YII", ["basic realm=<x>", "negotiate [YII]"]),
        ("Digest realm=x,nonce=y", ["digest realm=<x> nonce=<y>"]),
        ("Digest nonce=y,realm=x", ["digest nonce=<y> realm=<x>"]),
        ("Digest nonce=\"y=\", realm=x", ["digest nonce=<y=> realm=<x>"]),
        ("Digest qop=\"auth, auth-int\"", ["digest qop=<auth, auth-int>"]),
        ("Digest qop=auth", ["digest qop=<auth>"]),
        ("Digest stale=TRUE", ["digest stale=<TRUE>"]),
        ("Digest domain=\"/a /b http://c/\"", ["digest domain=</a /b http://c/>"]),
        ("Digest a=1, Digest b=2, Digest c=3", ["digest a=<1>", "digest b=<2>", "digest c=<3>"]),
        ("Digest a=1, b=2, Basic c=3, d=4", ["digest a=<1> b=<2>", "basic c=<3> d=<4>"]),
        ("Digest a=1,,, b=2", ["digest a=<1> b=<2>"]),
        ("Digest a=1,,,Basic b=2", ["digest a=<1>", "basic b=<2>"]),
        ("X-Own!#$%&'*+-.^_`|~ a=1", ["x-own!#$%&'*+-.^_`|~ a=<1>"]),
        ("AWS4-HMAC-SHA256 a=1", ["aws4-hmac-sha256 a=<1>"]),
        ("Mutual realm=\"x\", version=1, Basic realm=\"y\"", ["mutual realm=<x> version=<1>", "basic realm=<y>"]),
        ("Hoba max-age=\"1\"", ["hoba max-age=<1>"]),
        ("vapid", ["vapid"]),
        ("Scheme1 p1=1, p2=2, Scheme2", ["scheme1 p1=<1> p2=<2>", "scheme2"]),
        ("a", ["a"]),
        ("a b", ["a [b]"]),
        ("a b=", ["a [b=]"]),
        ("a b=c", ["a b=<c>"]),
        ("a b=\"\"", ["a b=<>"]),
        ("a, b, c", ["a", "b", "c"]),
        ("a b, c d, e f", ["a [b]", "c [d]", "e [f]"]),
        ("a b, c d=e, f", ["a [b]", "c d=<e>", "f"]),
    ]

    @Test("challenges in any arrangement are told apart, T-AUT-12", arguments: rows)
    func arrangements(text: String, expected: [String]) {
        #expect(Challenge.list(text).map(Self.text) == expected)
    }

    @Test("the fields of a response are one list, T-AUT-12")
    func fields() {
        var headers = HTTPHeaders()
        headers.append("WWW-Authenticate", value: "Basic realm=a, Digest realm=b")
        headers.append("Proxy-Authenticate", value: "Basic realm=of-the-proxy")
        headers.append("www-AUTHENTICATE", value: "Negotiate")
        #expect(
            Challenge.list(in: headers, name: "WWW-Authenticate").map(Self.text) == [
                "basic realm=<a>", "digest realm=<b>", "negotiate",
            ]
        )
    }

    @Test("a malformed field takes nothing away from the next one, T-AUT-06")
    func oneBadField() {
        var headers = HTTPHeaders()
        headers.append("WWW-Authenticate", value: "Digest realm=\"a")
        headers.append("WWW-Authenticate", value: "Basic realm=b")
        #expect(Challenge.list(in: headers, name: "WWW-Authenticate").map(Self.text) == ["basic realm=<b>"])
    }

    @Test("no more challenges and parameters are read than any server has, T-AUT-06")
    func bounds() {
        let many = Array(repeating: "Basic realm=a", count: 10_000).joined(separator: ",")
        #expect(Challenge.list(many).count == Challenge.maximumCount)
        var headers = HTTPHeaders()
        for _ in 0..<10 {
            headers.append("WWW-Authenticate", value: "Basic realm=a, Basic realm=b, Basic realm=c, Basic realm=d")
        }
        #expect(Challenge.list(in: headers, name: "WWW-Authenticate").count == Challenge.maximumCount)

        let names = (0..<Challenge.maximumParameters).map { "p\($0)=1" }.joined(separator: ",")
        #expect(Challenge.list("Digest \(names)").first?.parameters.count == Challenge.maximumParameters)
        #expect(Challenge.list("Digest \(names),more=1").isEmpty)
    }

    @Test(
        "what could be read in two ways, or end a field of ours, is not answered, T-AUT-06, T-AUT-07",
        arguments: [
            "Digest realm=a, nonce=b, realm=c", "Digest REALM=a, realm=a", "Basic realm=\"a\rb\"",
            "Basic realm=\"a\nb\"",
            "Basic realm=\"a\u{0}b\"", "Basic realm=\"a\\\u{0}b\"", "Basic realm=\"\u{7F}\"",
            "Basic realm=a, x=\"\u{1B}\"",
        ]
    )
    func unusable(text: String) throws {
        #expect(try !#require(Challenge.list(text).first).isUsable)
    }

    @Test("any other text in a realm may be answered, T-AUT-06", arguments: ["", "a\tb", "\\\"", "é", ", =", "a;b"])
    func usable(realm: String) throws {
        var field = Array("Basic realm=".utf8)
        #expect(QuotedText.append(realm.utf8, to: &field))
        let challenge = try #require(field.withUnsafeBytes { Challenge.list($0) }.first)
        #expect(challenge.isUsable)
        #expect(challenge.bytes("realm") == Array(realm.utf8))
    }

    @Test(
        "quoted text says what it said before, and holds no control character, T-AUT-07",
        arguments: [1, 2, 3] as [UInt64]
    )
    func quoting(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var field = Array("a b=".utf8)
            guard QuotedText.append(bytes, to: &field) else {
                #expect(bytes.contains(where: ByteScanning.isForbiddenControl))
                #expect(field == Array("a b=".utf8))
                continue
            }
            #expect(!field.contains(where: ByteScanning.isForbiddenControl))
            let challenges = field.withUnsafeBytes { Challenge.list($0) }
            #expect(challenges.count == 1 && challenges.first?.bytes("b") == bytes)
        }
    }

    @Test("a field of parameters alone is read as a whole or not at all, T-AUT-06")
    func parameters() {
        func names(_ text: String) -> [String]? {
            text.withUTF8Bytes { Challenge.parameters(of: $0) }?.map { "\($0.name)=\($0.text)" }
        }
        #expect(names("rspauth=\"a\", qop=auth,nc=00000001") == ["rspauth=a", "qop=auth", "nc=00000001"])
        #expect(names("") == [])
        #expect(names(" , ") == [])
        for bad in ["a", "a=1 b=2", "a=1, b", "a=\"1", "a=1, a=2", "a=\"\u{1}\"", "Digest a=1"] {
            #expect(names(bad) == nil, "\(bad)")
        }
    }

    @Test(
        "random pieces never trap, and what is found is part of the text, T-AUT-06",
        arguments: [4, 5, 6] as [UInt64]
    )
    func randomTexts(seed: UInt64) {
        let pieces = [
            "Basic", "Digest", "Negotiate", " ", "  ", ",", "=", "\"", "\\", "realm", "nonce=\"b\"", "a=b", "YII==",
            "\t",
            "\u{0}", "é", "realm=\"x\"", ", ",
        ]
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            let challenges = Challenge.list(text)
            #expect(
                challenges.allSatisfy {
                    !$0.scheme.isEmpty && ASCII.lowered(text).utf8.count >= $0.scheme.utf8.count
                }
            )
            // A comma in front changes nothing.
            #expect(Challenge.list("," + text) == challenges)
        }
    }

    @Test("tokens are sent as they are, or not at all")
    func bearer() throws {
        func value(_ token: String) throws(RequestRejection) -> String {
            let bearer = try token.withUTF8Bytes { bytes throws(RequestRejection) in try BearerCredentials(token: bytes)
            }
            return String(decoding: bearer.fieldValue, as: UTF8.self)
        }
        #expect(try value("abc.DEF-1_2~3+/==") == "Bearer abc.DEF-1_2~3+/==")
        for bad in ["", "=", "a b", "a\r\nX: y", "a,b", "a=b", "é", "\"a\"", "a\u{0}"] {
            #expect(throws: RequestRejection.self, "\(bad)") { try value(bad) }
        }
    }
}
