import AFBase
import AFRequest
import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

/// What a request says about the form in which it is sent.
struct WireFormTests {
    @Test func `a request goes without the fields of the session that it withholds, in any case`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["X-Team": "1"], userAgent: "test/1", contentCodings: "gzip")

        let bare = try freeze("http://a.test/", defaults: defaults) {
            $0.withheldHeaderFields = ["accept", "USER-AGENT", "x-team", "Accept-Encoding"]
        }
        let own = try freeze("http://a.test/", defaults: defaults) {
            $0.withheldHeaderFields = ["Accept", "Host", "X-Team"]
            $0.setValue("text/css", forHTTPHeaderField: "Accept")
        }

        #expect(bare.lines == ["GET / HTTP/1.1", "Host: a.test", ""])
        #expect(
            own.lines[1...] == ["Host: a.test", "Accept: text/css", "User-Agent: test/1", "Accept-Encoding: gzip", ""]
        )
    }

    @Test func `HTTP 1.0 is said in the request line, and the connection serves no other request`() throws {
        let old = try freeze("http://a.test/") { $0.usesHTTP10 = true }

        #expect(old.lines == ["GET / HTTP/1.0", "Host: a.test", "User-Agent: test/1", "Accept: */*", ""])
        #expect(old.closesConnection)
        #expect(try !freeze("http://a.test/") { $0.usesHTTP10 = false }.closesConnection)
    }

    @Test func `HTTP 1.0 has neither chunks nor an expectation`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        request.usesHTTP10 = true
        request.httpMethod = "POST"
        request.setValue("100-continue", forHTTPHeaderField: "Expect")

        let known = try RequestFreezer.freeze(
            request,
            defaults: testDefaults,
            plan: .length(5),
            expectsContinueAbove: 1
        )
        #expect(known.values("Expect") == [] && !known.head.expectsContinue && known.values("Content-Length") == ["5"])
        #expect(throws: RequestRejection(.body, rule: .lengthUnknown)) {
            try RequestFreezer.freeze(request, defaults: testDefaults, plan: .stream)
        }
    }

    /// A field that is new must be in the list below, and in the copy.
    @Test func `a change of the head leaves all else of a wire request`() throws {
        let frozen = try freeze("http://me@a.test/x#y") { request in
            request.httpMethod = "PUT"
            request.httpBody = Data([1])
            request.cachePolicy = .reloadIgnoringLocalCacheData
            request.timeoutInterval = 7
            request.httpShouldUsePipelining = true
            request.maximumBytesSentPerSecond = 9
        }
        let changed = frozen.changing { $0.fields.append("X", value: "y") }

        let (before, after) = (Mirror(reflecting: frozen).children, Mirror(reflecting: changed).children)
        #expect(
            before.map(\.label) == [
                "head", "body", "terms", "location", "defaults", "endpoint", "setsLimits", "mentionsCaches", "derived",
            ]
        )
        for (one, other) in zip(before, after) where one.label != "head" && one.label != "derived" {
            var texts = ("", "")
            dump(one.value, to: &texts.0)
            dump(other.value, to: &texts.1)
            #expect(texts.0 == texts.1, "\(one.label ?? "")")
        }
        #expect(changed.defaults === frozen.defaults && changed.terms.limits == frozen.terms.limits)
        #expect(changed.lines == frozen.lines.dropLast(2) + ["X: y"] + frozen.lines.suffix(2))
    }

    @Test func `what is derived from a request is derived anew for a changed one`() throws {
        let frozen = try freeze("http://a.test/x") { $0.setValue("no-store", forHTTPHeaderField: "Cache-Control") }
        #expect(CacheRequest.of(frozen).control.noStore && !CacheRequest.of(frozen).isPartial)
        #expect(frozen.derived.value?.value is CacheRequest)

        let changed = frozen.changing { $0.fields.append("Range", value: "bytes=1-") }

        #expect(
            changed.derived.value == nil && CacheRequest.of(changed).isPartial && !CacheRequest.of(frozen).isPartial
        )
        #expect(CacheRequest.of(changed).key == CacheRequest.of(frozen).key)
    }

    @Test func `a cache policy is the same when the request is frozen`() throws {
        let policies = (0...5).compactMap { URLRequest.CachePolicy(rawValue: $0) }
        let frozen = try policies.map { policy in try freeze("http://a.test/") { $0.cachePolicy = policy } }

        #expect(policies.count == 6 && frozen.map(\.cachePolicy) == policies)
        #expect(try freeze("http://a.test/").cachePolicy == nil)
    }

    @Test func `fields are listed in the order of the wire`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        request.setValue("1", forHTTPHeaderField: "X-b")
        request.setValue("2", forHTTPHeaderField: "X-a")
        request.addValue("3", forHTTPHeaderField: "x-B")

        #expect(request.headerFields.map { "\($0.name): \($0.value)" } == ["X-b: 1,3", "X-a: 2"])
    }

    @Test func `requests of another form are not equal`() throws {
        let plain = URLRequest(url: try #require(URL(string: "http://a.test/")))
        var old = plain
        old.usesHTTP10 = true
        var bare = plain
        bare.withheldHeaderFields = ["Accept"]
        var same = plain
        same.withheldHeaderFields = ["ACCEPT"]

        var joining = plain
        joining.addsStoredCookies = true

        #expect(plain != old && plain != bare && old != bare && bare == same && plain != joining)
    }
}
