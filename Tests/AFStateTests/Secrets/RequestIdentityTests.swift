import AFWire
import Testing

@testable import AFState

@Suite("By what requests say who they are")
struct RequestIdentityTests {
    private static let url = (try? RequestURL("http://a.test/")).unsafelyUnwrapped

    private static func identity(_ fields: (String, String)...) -> RequestIdentity {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value: value) }
        return RequestIdentity(of: headers)
    }

    @Test(arguments: [
        "Accept", "accept-language", "Accept-Encoding", "User-Agent", "Cache-Control", "Pragma", "If-None-Match",
        "If-Modified-Since", "Range", "Referer", "Origin", "Connection", "Host", "Content-Type", "Content-Length",
        "Priority", "DNT", "traceparent", "tracestate", "X-Request-Id", "X-Correlation-ID", "Sec-Fetch-Mode",
        "Upgrade-Insecure-Requests", "Expect", "TE", "b3", "Request-Id", "sentry-trace", "uber-trace-id",
        "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "x-datadog-trace-id", "elastic-apm-traceparent",
        "X-Requested-With", "accept-",
    ])
    func `a field that says nothing of the user counts for none`(name: String) {
        #expect(Self.identity((name, "one")) == .unnamed)
        #expect(Self.identity((name, "one"), ("X-User", "a")) == Self.identity(("X-User", "a")))
    }

    @Test(arguments: [
        "Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Private-Token", "X-User", "X-Anything",
        "Proxy-Authorization",
        "Acceptance", "Contents", "Iffy", "Sec-WebSocket-Protocol",
    ])
    func `any other field tells users apart`(name: String) {
        let one = Self.identity((name, "one"))
        #expect(one != .unnamed && one != Self.identity((name, "two")) && one != Self.identity((name, "")))
        #expect(one == Self.identity((name.uppercased(), "one")))
    }

    @Test func `a program for one user tells accounts apart by secrets alone`() {
        func identities(_ fields: (String, String)...) -> RequestIdentities {
            var headers = HTTPHeaders()
            for (name, value) in fields { headers.append(name, value: value) }
            return CacheRequest(method: "GET", url: Self.url, headers: headers).identities
        }
        let (key, count, cookie) = (("X-Api-Key", "k"), ("X-Count", "7"), ("cookie", "a=b"))
        #expect(identities(count).bySecrets == .unnamed && identities(count).byAnyField != .unnamed)
        #expect(identities(count, key).bySecrets == identities(key).bySecrets)
        #expect(identities(key).bySecrets == identities(key).byAnyField)
        #expect(identities(("X-Api-Key", "l")).bySecrets != identities(key).bySecrets)
        // And each way without the cookies.
        #expect(identities(key).besideCookies == nil)
        let all = identities(cookie, key, count)
        #expect(all.besideCookies?.byAnyField == identities(key, count).byAnyField)
        #expect(all.besideCookies?.bySecrets == identities(key).bySecrets && all.bySecrets != identities(key).bySecrets)
        #expect(identities(cookie).besideCookies?.bySecrets == .unnamed)
    }

    @Test func `the order of fields does not count, that of their lines does`() {
        #expect(Self.identity(("A", "1"), ("B", "2")) == Self.identity(("b", "2"), ("a", "1")))
        #expect(Self.identity(("A", "1"), ("A", "2")) != Self.identity(("A", "2"), ("A", "1")))
        #expect(Self.identity(("A", "1"), ("A", "2")) != Self.identity(("A", "1, 2")))
        #expect(Self.identity(("A", "1")) != Self.identity(("B", "1")))
        // What stands in one field never looks like another.
        #expect(Self.identity(("A", "1"), ("B", "2")) != Self.identity(("A", "1B2")))
        #expect(Self.identity() == .unnamed)
        // A name that is none is not known to say nothing.
        var reader = RequestIdentity.Reader()
        reader.read(UnsafeRawBufferPointer(start: nil, count: 0), value: UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(reader.identity != .unnamed)
    }
}
