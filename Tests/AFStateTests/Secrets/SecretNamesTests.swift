import Testing

@testable import AFState

@Suite("Secrets in URLs")
struct SecretNamesTests {
    private static func areHeld(in value: String) -> Bool {
        Array(value.utf8).withUnsafeBytes { SecretNames.areHeld(inURLs: $0) }
    }

    @Test(arguments: [
        "/end?access_token=1", "https://a.test/?a=1&code=2", "/end?a=1;pin=2", "/?acc%65ss_tok%65n=1",
        // The answer of OAuth's implicit flow.
        "https://app.test/#access_token=1&state=2",
        // One server decodes these as far as it can, another does not.
        "/end?tok%6=1", "/end?%zz=1", "/?%=1",
        "https://user:word@a.test/", "//user@a.test",
        "https://u,s;e=r:w@a.test/", "<https://a.test/x>; rel=next, <https://u:w@a.test/y>; rel=prev",
    ])
    func `are found`(value: String) {
        #expect(Self.areHeld(in: value))
    }

    @Test(arguments: [
        "", "text/html; charset=utf-8", "W/\"a?b\"", "/end?page=2&a=%C3%A9", "/end?token", "/end#top", "/#a=1",
        "https://a.test/@scope/pack@1.2.js", "<https://a.test/pack@2?v=1>; rel=preload", "me@a.test",
        "https://a.test?@=1", "https://a.test#x@y",
    ])
    func `are not seen where there are none`(value: String) {
        #expect(!Self.areHeld(in: value))
    }
}
