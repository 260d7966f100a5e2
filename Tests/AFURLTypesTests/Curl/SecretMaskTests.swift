import Foundation
import Testing

@testable import AFURLTypes

@Suite("What is hidden from those who look on")
struct SecretMaskTests {
    private let mask = SecretMask(sensitiveFields: ["X-Mine"])

    @Test(arguments: [
        ("Authorization", "Bearer canary", "Bearer ***"), ("authorization", "canary", "***"),
        ("Authorization", "canary canary", "***"), ("Proxy-Authorization", "Basic canary", "Basic ***"),
        ("Cookie", "a=canary; b=canary", "a=***; b=***"), ("Cookie", "canary", "***"),
        ("Set-Cookie", "a=canary; Path=/; Secure", "a=***; Path=/; Secure"), ("X-Api-Key", "canary", "***"),
        ("x-auth-token", "canary", "***"), ("X-MINE", "canary", "***"), ("X-Other", "seen", "seen"),
        ("Location", "https://canary:canary@a.test/?token=canary&b=c#canary", "https://a.test/?token=***&b=c"),
        ("Authorization", "Bearer \u{301}canary", "Bearer ***"),
        ("Set-Cookie", "a=\u{301}canary;\u{301} Path=/", "a=***;\u{301} Path=/"),
        ("Referer", "/x?Access_Token=canary", "/x?Access_Token=***"), ("Private-Token", "canary", "***"),
        ("X-Cookie", "canary", "***"), ("WWW-Authenticate", "Basic realm=seen", "Basic realm=seen"),
    ])
    func `fields`(name: String, value: String, shown: String) {
        #expect(mask.value(value, of: name) == shown)
    }

    @Test(arguments: [
        (
            "Link", #"<https://a.test/?token=canary&p=2>; rel="next", </b?token=canary>; rel=last"#,
            #"<https://a.test/?token=***&p=2>; rel="next", </b?token=***>; rel=last"#
        ),
        ("Link", "<https://canary:canary@a.test/#access_token=canary>", "<https://a.test/#access_token=***>"),
        ("Refresh", "5; url=https://u:canary@a.test/?token=canary", "5; url=https://a.test/?token=***"),
        ("Refresh", "5;url=//u:canary@a.test/", "5;url=//a.test/"),
        ("X-Location", "/x?access_token=canary#canary", "/x?access_token=***"),
        ("SourceMap", "/x.map?key=canary", "/x.map?key=***"), ("X-SourceMap", "/x.map?key=canary", "/x.map?key=***"),
        ("Origin", "https://u:canary@a.test", "https://a.test"), ("Origin", "null", "null"),
        ("Destination", "https://u:canary@a.test/b?token=canary", "https://a.test/b?token=***"),
        (
            "Content-Security-Policy", "default-src 'self'; report-uri https://a.test/?key=canary; x 'y'",
            "default-src 'self'; report-uri https://a.test/?key=*** x 'y'"
        ),
        (
            "Report-To", #"{"endpoints":[{"url":"https://a.test/?key=canary"}]}"#,
            #"{"endpoints":[{"url":"https://a.test/?key=***"}]}"#
        ),
        ("X-Callback", "https://a.test/?next=https://u:canary@b.test/", "https://a.test/?next=https://b.test/"),
        (
            "WWW-Authenticate", #"Bearer realm="https://u:canary@a.test/?token=canary""#,
            #"Bearer realm="https://a.test/?token=***""#
        ),
        ("From", "me@a.test", "me@a.test"), ("X-Image", "//a.test//b@2x.png", "//a.test//b@2x.png"),
        ("Server", "what? none", "what? none"), ("X-Empty", "", ""), ("X-Edge", "//", "//"),
        (
            "Authentication-Info", #"nextnonce="canary, canary", qop=auth, nc=00000001, rspauth="canary""#,
            #"nextnonce=***, qop=auth, nc=00000001, rspauth=***"#
        ),
        ("Proxy-Authentication-Info", "nextnonce=canary", "nextnonce=***"), ("Authentication-Info", "canary", "***"),
        ("Sec-WebSocket-Protocol", "v12.stomp, base64url.bearer.authorization.k8s.io.canary", "v12.stomp, ***"),
        ("Sec-WebSocket-Protocol", "access_token, canary, chat", "***, ***, chat"),
        ("Sec-WebSocket-Protocol", "chat,eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", "chat,***"),
    ])
    func `URLs and tokens in other fields`(name: String, value: String, shown: String) {
        #expect(mask.value(value, of: name) == shown)
    }

    // A mark that combines makes one character of itself and the sign before it.
    @Test(arguments: [
        ("password=\u{301}canary", "password=***"), ("a=1&\u{301}b=2&token=canary", "a=1&\u{301}b=2&token=***"),
        ("a=1;password=canary", "a=1;password=***"), ("password=can;ary;b=2&c=3;d", "password=***&c=3;d"),
        ("a=1;b=2;&;", "a=1;b=2;&;"), ("token=canary&\u{301}", "token=***&\u{301}"),
        ("a\u{301}=1&=2&&", "a\u{301}=1&=2&&"),
    ])
    func `forms`(form: String, shown: String) {
        #expect(Array(mask.query(form[...]).utf8) == Array(shown.utf8))
    }

    @Test(arguments: [
        (#"{"user":"me","password":"canary"}"#, #"{"user":"me","password":"***"}"#),
        (#"[{"access_token" : "can\"ary" , "expires_in":3600}]"#, #"[{"access_token" : "***" , "expires_in":3600}]"#),
        (#"{"pin":1234,"otp":true,"apiKey":null,"n":-1.5e3}"#, #"{"pin":"***","otp":"***","apiKey":"***","n":-1.5e3}"#),
        (#"{"tokens":["canary",{"a":"canary]"}],"b":[1]}"#, #"{"tokens":"***","b":[1]}"#),
        (#"{"session":{"id":{"x":"canary}"}},"author":"seen"}"#, #"{"session":"***","author":"seen"}"#),
        (#"{"pass\u0077ord":"canary","a\\":"password"}"#, #"{"pass\u0077ord":"***","a\\":"password"}"#),
        (#"{"a":"password","b":["token","x"]}"#, #"{"a":"password","b":["token","x"]}"#),
        (#"{"code":404,"errors":[{"code":"canary"}]}"#, #"{"code":404,"errors":[{"code":"***"}]}"#),
        (#"{"m":"{\"password\":\"canary\"}","n":"a\nb"}"#, #"{"m":"{\"password\":\"***\"}","n":"a\nb"}"#),
        ("{\r\n\t\"token\"\n:\n\"canary\"\n}", "{\r\n\t\"token\"\n:\n\"***\"\n}"),
        (#"{"next":"https://a.test/?token=canary&b=1"}"#, #"{"next":"https://a.test/?token=***&b=1"}"#),
        (#"{"next":"https:\/\/me:canary@a.test\/x","b":1}"#, #"{"next":"https://a.test/x","b":1}"#),
        (#"["see wss://a.test/#access_token=canary now"]"#, #"["see wss://a.test/#access_token=*** now"]"#),
        (#"{"m":"{\"url\":\"https://a.test/?token=canary\"}"}"#, #"{"m":"{\"url\":\"https://a.test/?token=***\"}"}"#),
        (#"{"next":"https://a.test/?token=canary"#, #"{"next":"https://a.test/?token=***"#),
        (#"{"next":"https://a.test/?page=2"}"#, #"{"next":"https://a.test/?page=2"}"#),
        // Several in one text, as `application/x-ndjson` and streams of events have them.
        ("data: {\"jwt\":\"canary\"}\ndata: [\"jwt\"]", "data: {\"jwt\":\"***\"}\ndata: [\"jwt\"]"),
        ("say \"hi\n{\"token\":\"canary\"}", "say \"hi\n{\"token\":\"***\"}"),
        // Cut off, or no JSON.
        (#"{"token":"canary"#, #"{"token":"***""#), (#"{"token":{"a":["canary"#, #"{"token":"***""#),
        ("{\"token\":\"canary\ncanary\",\"b\":1}", "{\"token\":\"***\",\"b\":1}"), (#"{"token":"#, #"{"token":"#),
        (#"{"token"#, #"{"token"#), (#"{"token\"#, #"{"token\"#), (#"{"token":]"#, #"{"token":"***""#), ("", ""),
        ("\"", "\""),
    ])
    func `members of JSON`(json: String, shown: String) {
        #expect(mask.json(json) == shown)
    }

    @Test(arguments: [
        ("password=canary&b=1", "application/x-www-form-urlencoded; charset=utf-8", "password=***&b=1"),
        (#"{"password":"canary"}"#, "application/x-www-form-urlencoded", #"{"password":"***"}"#),
        ("password=seen", "text/plain", "password=seen"), (#"{"token":"canary"}"#, "", #"{"token":"***"}"#),
    ])
    func `bodies`(body: String, type: String, shown: String) {
        #expect(mask.body(Data(body.utf8), type: type) == Data(shown.utf8))
    }

    private static func form(_ parts: [(head: String, content: String)]) -> String {
        parts.map { "--Xy\r\n\($0.head)\r\n\r\n\($0.content)\r\n" }.joined() + "--Xy--\r\n"
    }

    private func shown(_ form: String, type: String = "multipart/form-data; boundary=Xy") -> String {
        String(decoding: mask.body(Data(form.utf8), type: type), as: UTF8.self)
    }

    @Test(arguments: [
        (#"Content-Disposition: form-data; name="user""#, "me", "me"),
        (#"Content-Disposition: form-data; name="password""#, "canary\r\n\r\ncanary", "***"),
        (#"content-disposition:form-data;NAME=user[api_key];filename="a.txt""#, "canary", "***"),
        ("Content-Type: text/plain\r\nContent-Disposition: form-data; name=pin", "1234", "***"),
        (#"Content-Disposition: form-data; name="pass\word""#, "canary", "***"),
        (
            "Content-Disposition: form-data; name=\"a\"\r\nContent-Type: application/json", #"{"jwt":"canary"}"#,
            #"{"jwt":"***"}"#
        ),
        (#"Content-Disposition: form-data; name="token""#, "", ""),
        // A name that cannot be read.
        ("Content-Disposition: form-data", "canary", "***"), ("X-Other: 1", "canary", "***"),
        (#"Content-Disposition: form-data; name="a"#, "canary", "***"),
    ])
    func `parts of a form`(head: String, content: String, masked: String) {
        let around = (head: #"Content-Disposition: form-data; name="x""#, content: "seen")

        let form = Self.form([around, (head, content), around])

        #expect(shown(form) == Self.form([around, (head, masked), around]))
        #expect(shown(form, type: "Multipart/Form-Data; boundary=\"Xy\"") == shown(form))
        let fed = form.replacing("\r\n", with: "\n")
        #expect(shown(fed) == shown(form).replacing("\r\n", with: "\n"))
    }

    @Test func `a form that is cut off shows no secret`() {
        let form = Self.form([(#"Content-Disposition: form-data; name="token""#, "canary")])
        for count in 0...form.utf8.count {
            let start = String(decoding: form.utf8.prefix(count), as: UTF8.self)
            #expect(!shown(start).contains("ca"))
        }
    }

    @Test(arguments: ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=other"])
    func `a form without its boundary is covered`(type: String) {
        #expect(shown(Self.form([(#"Content-Disposition: form-data; name="x""#, "canary")]), type: type) == "***")
    }

    @Test func `a file in a form stays whole`() {
        let head = "--Xy\r\nContent-Disposition: form-data; name=\"f\"; filename=\"key.png\"\r\n\r\n"
        let form = Data(head.utf8) + Data([0xFF, 0x0D, 0x0A, 0x00]) + Data("\r\n--Xy--\r\n".utf8)

        #expect(mask.body(form, type: "multipart/form-data; boundary=Xy") == form)
    }

    @Test func `a body that is no text stays whole, unless it says that it is JSON or a form`() {
        let bytes = Data([0xFF]) + Data(#""token":"canary""#.utf8)

        #expect(mask.body(bytes, type: "image/png") == bytes)
        let latin = Data("name=J\u{F6}rg".unicodeScalars.map { UInt8($0.value) })
        #expect(mask.body(latin, type: "application/x-www-form-urlencoded") == latin)
        #expect(mask.body(bytes, type: "application/vnd.api+JSON") == Data("\u{FFFD}\"token\":\"***\"".utf8))
        #expect(
            mask.body(Data([0xFF]) + Data("&token=canary".utf8), type: "application/x-www-form-urlencoded")
                == Data("\u{FFFD}&token=***".utf8)
        )
    }

    @Test(arguments: [
        ("https://a.test/x?y=1", "https://a.test/x?y=1"), ("https://u@a.test/", "https://a.test/"),
        ("https://a.test/?api%5Fkey=canary", "https://a.test/?api%5Fkey=***"),
        ("https://a.test/?a&token=&b", "https://a.test/?a&token=***&b"),
        ("https://a.test/?x=?token=1", "https://a.test/?x=?token=1"),
        ("https://a.test/?a=1;password=canary", "https://a.test/?a=1;password=***"),
        (
            "https://a.test/cb?code=canary&JWT=canary&session=canary",
            "https://a.test/cb?code=***&JWT=***&session=***"
        ),
    ])
    func `URLs`(url: String, shown: String) throws {
        #expect(mask.url(try #require(URL(string: url))) == shown)
        #expect(SecretNames.masked(try #require(URL(string: url))) == shown)
    }
}
