import AFWire
import Testing

struct ChallengeTests {
    private static func text(_ challenge: Challenge) -> String {
        let parameters = challenge.parameters.map { "\($0.name)=<\($0.text)>" }
        return ([challenge.scheme] + (challenge.token68.map { ["[\($0)]"] } ?? []) + parameters).joined(separator: " ")
    }

    @Test(arguments: [
        ("Basic realm=\"a\"", ["basic realm=<a>"]), ("BASIC Realm=a", ["basic realm=<a>"]),
        ("Basic", ["basic"]), ("Basic, Digest", ["basic", "digest"]), ("Negotiate", ["negotiate"]),
        ("Negotiate abc=", ["negotiate [abc=]"]), ("Negotiate abc==, Basic", ["negotiate [abc==]", "basic"]),
        ("NTLM TlRM+/-._~==", ["ntlm [TlRM+/-._~==]"]), ("Basic abc", ["basic [abc]"]),
        ("Basic realm=\"a\", Digest realm=\"b\", nonce=\"c\"", ["basic realm=<a>", "digest realm=<b> nonce=<c>"]),
        ("Digest realm=\"b\", nonce=\"c\", qop=\"auth,auth-int\"", ["digest realm=<b> nonce=<c> qop=<auth,auth-int>"]),
        (
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            ["newauth realm=<apps> type=<1> title=<Login to \"apps\">", "basic realm=<simple>"]
        ),
        ("Basic realm = \"a\"", ["basic realm=<a>"]), ("Basic realm=\"\"", ["basic realm=<>"]),
        ("Basic realm=\"a\\\\\"", ["basic realm=<a\\>"]),
        (
            ",,Basic realm=a,,,Digest nonce=b,,",
            ["basic realm=<a>", "digest nonce=<b>"]
        ),
        ("Basic realm=\"a, Digest realm=b\"", ["basic realm=<a, Digest realm=b>"]),
        ("Basic  realm=a", ["basic realm=<a>"]), ("Basic\trealm=a", ["basic realm=<a>"]),
        ("Basic ,realm=a", ["basic realm=<a>"]),
        (
            "Digest x=1, Negotiate, Basic y=2",
            ["digest x=<1>", "negotiate", "basic y=<2>"]
        ),
    ])
    func `challenges and their parameters are told apart`(text: String, expected: [String]) {
        #expect(Challenge.list(text).map(Self.text) == expected)
    }

    @Test(arguments: [
        ("", []), ("=", []), ("\"", []), ("Basic realm=\"a", []), ("Basic realm=,x=", ["basic [realm=]"]),
        ("Basic realm=a b=c", []), ("Basic realm=a \"b\"", []), ("Basic realm=\"a\" b", []),
        ("Basic realm=a b", ["basic realm=<a b>"]), ("Basic realm=a b;c=d", ["basic realm=<a b>"]),
        ("Basic realm=\"a\"; charset=\"UTF-8\"", ["basic realm=<a>"]),
        ("Basic realm=a b, Digest nonce=c", ["basic realm=<a b>", "digest nonce=<c>"]),
        ("Basic realm=\"a\"; x=\",\", Digest nonce=c", ["basic realm=<a>", "digest nonce=<c>"]),
        ("Digest realm=a b", []), ("Bearer realm=\"a\"; scope=b", []),
        ("Basic realm=\"a\"x", []), ("Basic\u{0}", []), ("Basic \u{0}", []),
        ("Basic realm=a, \u{1}", ["basic realm=<a>"]),
        ("Basic realm=a, Digest nonce=\"b", ["basic realm=<a>"]), ("Basic realm=a, Digest b c", ["basic realm=<a>"]),
        ("Basic=a", []), ("Basic;realm=a", []),
    ])
    func `what is malformed is left out with everything behind it`(text: String, expected: [String]) {
        #expect(Challenge.list(text).map(Self.text) == expected)
    }

    @Test func `parameters are found by name`() {
        let challenge = Challenge.list("Digest REALM=\"a\", realm=\"b\"").first

        #expect(challenge?.parameter("realm") == "a")
        #expect(challenge?.parameter("nonce") == nil)
    }

    @Test func `T-MSG-32 a realm that is not UTF-8 keeps its bytes`() {
        let bytes = Array("Basic realm=\"".utf8) + [0xFC, 0x80] + Array("\"".utf8)

        let challenge = bytes.withUnsafeBytes { Challenge.list($0) }.first

        #expect(challenge?.parameters.first?.value == [0xFC, 0x80])
        #expect(challenge?.parameter("realm") == "ü\u{80}")
    }
}
