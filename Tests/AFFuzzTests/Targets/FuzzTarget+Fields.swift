import Foundation

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes
@testable import AFWire

extension FuzzTarget {
    /// Values of header fields.
    static let fields = [
        cacheControl, challenge, contentDisposition, contentRange, mediaType, retryAfter, transportSecurity, date,
        setCookie, cookieDate, structuredField,
    ]

    private static let cacheControl = FuzzTarget(
        "cache-control",
        "max-age=60, no-cache=\"a, b\", s-maxage=\"9\", private",
        "max-age=99999999999999999999, immutable, stale-while-revalidate=1"
    ) { input in
        var control = CacheControl()
        input.span.withUnsafeBytes { control.add($0) }
    }

    private static let challenge = FuzzTarget(
        "challenge",
        "Basic realm=\"a\", charset=\"UTF-8\", Digest realm=\"b\", nonce=\"c\", qop=\"auth,auth-int\", algorithm=SHA-256",
        "Negotiate abc==, Bearer realm=x, error=\"invalid_token\"",
        "Digest realm=\"\\\"\", nonce=\"1\", domain=\"/a http://b/\", stale=TRUE, userhash=true"
    ) { input in
        let challenges = input.span.withUnsafeBytes { Challenge.list($0) }
        _ = AuthenticationOffer.list(challenges, from: "a.test", mayHashBody: true)
        _ = input.span.withUnsafeBytes { Challenge.parameters(of: $0) }
    }

    private static let contentDisposition = FuzzTarget(
        "content-disposition",
        "attachment; filename=\"a.txt\"",
        "attachment; filename*=UTF-8''na%C3%AFve%2F..%2Fa.txt; filename=\"b\"",
        "inline; filename=..\\..\\con"
    ) { input in
        guard let name = input.span.withUnsafeBytes({ ContentDisposition($0) })?.fileName else { return }
        try expect(!name.isEmpty && name.utf8.count <= 255, "the name has \(name.utf8.count) bytes")
        try expect(!name.contains("/") && !name.contains("\\"), "\(name) leads elsewhere")
        try expect(!name.hasPrefix("."), "\(name) is hidden")
        try expect(!name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "there are controls in it")
    }

    private static let contentRange = FuzzTarget(
        "content-range",
        "bytes 0-9/10",
        "bytes */5",
        "bytes 9223372036854775806-9223372036854775807/*"
    ) { input in
        _ = input.span.withUnsafeBytes { ContentRange($0) }
    }

    private static let mediaType = FuzzTarget("media-type", "text/html; charset=\"utf-8\"", "a/b;c=d;e=\"f\\\"\"") {
        input in
        _ = input.span.withUnsafeBytes { MediaType($0) }?.charset
    }

    private static let retryAfter = FuzzTarget("retry-after", "120", "Fri, 31 Dec 1999 23:59:59 GMT") { input in
        guard let delay = RetryAfter.delay(input.text, now: 1_000_000) else { return }
        try expect(delay >= .zero && delay <= .seconds(RetryAfter.longest), "it is \(delay)")
    }

    private static let transportSecurity = FuzzTarget(
        "transport-security",
        "max-age=31536000; includeSubDomains; preload",
        "max-age=\"0\""
    ) { input in
        _ = input.span.withUnsafeBytes { TransportSecurity($0) }
    }

    private static let date = FuzzTarget(
        "http-date",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"
    ) { input in
        guard let seconds = input.span.withUnsafeBytes({ HTTPDate.seconds($0) }) else { return }
        let again = HTTPDate.seconds(HTTPDate.text(seconds))
        try expect(again == seconds, "\(seconds) is written as \(HTTPDate.text(seconds)), which is \(again ?? -1)")
    }

    private static let setCookie = FuzzTarget(
        "set-cookie",
        "a=b; Path=/x; Domain=.a.test; Max-Age=60; Secure; HttpOnly; SameSite=Lax",
        "__Host-a=\"b\"; Path=/; Secure; Expires=Wed, 09 Jun 2027 10:18:14 GMT",
        "=v"
    ) { input in
        let url = try RequestURL("https://www.a.test/x/y")
        guard let cookie = try? SetCookieParser.parse(input) else { return }
        let content = try? CookieAdmission.admit(
            cookie,
            from: CookieQuestion(url: url),
            now: 1_700_000_000,
            suffixes: PublicSuffixSource.system.known,
            limits: .standard
        )
        guard let content else { return }
        try expect(["a.test", "www.a.test"].contains(content.domain), "it is for \(content.domain)")
    }

    private static let cookieDate = FuzzTarget(
        "cookie-date",
        "Wed, 09 Jun 2027 10:18:14 GMT",
        "9-jun-27 1:2:3",
        "10:18:14 jun 2027 09"
    ) { input in
        _ = input.span.withUnsafeBytes { CookieDate.seconds($0) }
    }

    private static let structuredField = FuzzTarget(
        "structured-field",
        "a=1, b=-2.5;c=\"d\\\"\"",
        "(text/html;q=0.5 *);x, :aGVsbG8=:, @1659578233, ?0",
        "%\"f%c3%bc\";a=?1;b"
    ) { input in
        if let item = StructuredItem(parsing: input.text) {
            try expect(try StructuredItem(parsing: item.serialized()) == item, "\(item) is written as another item")
        }
        if let list = [StructuredMember](parsing: input.text) {
            let again = [StructuredMember](parsing: try list.serialized() ?? "")
            try expect(again == list, "\(list) is written as another list")
        }
        if let dictionary = StructuredDictionary(parsing: input.text) {
            let again = StructuredDictionary(parsing: try dictionary.serialized() ?? "")
            try expect(again == dictionary, "\(dictionary) is written as another dictionary")
        }
    }
}
