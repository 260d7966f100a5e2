import AFWire
import Testing

@testable import AFState

extension CacheTests {
    struct Validation {
        private func merge(
            _ stored: [(String, String)],
            _ news: [(String, String)],
            _ question: [String: String] = [:]
        ) throws -> StoredHead? {
            let asked = try request("http://a.test/page", question)
            let merged = CacheRules.merge(
                head(stored, for: asked),
                with: headers(news),
                for: asked,
                requestTime: at(100),
                responseTime: at(101)
            )
            guard case .confirmed(let head) = merged else { return nil }
            return head
        }

        @Test("a 304 updates fields, and none that describe the body, T-CAC-08")
        func update() throws {
            let stored = [
                ("Content-Type", "text/plain"), ("Content-Length", "5"), ("ETag", "\"1\""), ("X-Old", "1"),
                ("Link", "<a>"), ("Link", "<b>"), ("Age", "9"), ("Date", date(0)), ("Cache-Control", "max-age=5"),
            ]
            let news = [
                ("Content-Type", "text/html"), ("Content-Length", "0"), ("Content-Encoding", "gzip"), ("ETag", "\"1\""),
                ("Link", "<c>"), ("Link", "<d>"), ("Date", date(100)), ("Cache-Control", "max-age=60"), ("X-New", "2"),
                ("Connection", "X-Hop"), ("X-Hop", "1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"),
            ]
            let merged = try #require(try merge(stored, news))

            #expect(merged.headers.values("Content-Type") == ["text/plain"])
            #expect(merged.headers.values("Content-Length") == ["5"])
            #expect(!merged.headers.contains("Content-Encoding"))
            #expect(merged.headers.values("Link") == ["<c>", "<d>"])
            #expect(merged.headers.values("Set-Cookie") == ["a=1", "b=2"])
            #expect(merged.headers.values("X-Old") == ["1"] && merged.headers.values("X-New") == ["2"])
            #expect(!merged.headers.contains("X-Hop") && !merged.headers.contains("Connection"))
            #expect(!merged.headers.contains("Age") && merged.headers.values("Date") == [date(100)])
            #expect(merged.responseTime == start + 101 && merged.requestTime == start + 100)
            #expect(CacheRules.isUsable(merged, for: try request(), now: at(150)) == .fresh)
        }

        @Test("a 304 keeps Vary, or changes what it means for this request, T-CAC-01, T-CAC-08")
        func varyOfUpdate() throws {
            let stored = [("ETag", "\"1\""), ("Vary", "Accept-Language")]
            let question = ["Accept-Language": "de", "Sec-CH-Mode": "1"]
            let asked = try request("http://a.test/page", question)
            #expect(try merge(stored, [], question)?.vary == [VaryField("accept-language", of: asked.headers)])
            #expect(
                try merge(stored, [("Vary", "Sec-CH-Mode")], question)?.vary == [
                    VaryField("sec-ch-mode", of: asked.headers)
                ]
            )
        }

        @Test(
            "a 304 that confirms something else is not believed, T-CAC-09",
            arguments: [
                ("\"1\"", "ETag", "\"2\"", false), ("\"1\"", "ETag", "W/\"1\"", true),
                ("W/\"1\"", "ETag", "\"1\"", true),
                ("\"1\"", "ETag", "1", false), ("\"1\"", "Last-Modified", date(5), true), ("", "ETag", "\"1\"", false),
                ("", "Last-Modified", date(-50), true), ("", "Last-Modified", date(-49), false), ("", "X", "y", true),
            ] as [(String, String, String, Bool)]
        )
        func strangers(tag: String, name: String, value: String, isBelieved: Bool) throws {
            let stored = (tag.isEmpty ? [] : [("ETag", tag)]) + [("Last-Modified", date(-50))]
            #expect((try merge(stored, [(name, value)]) != nil) == isBelieved)
        }

        @Test("tags are compared weakly, byte for byte, T-CAC-10")
        func tags() throws {
            func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
            #expect(CacheRules.areEqualWeakly(bytes("W/\"a\""), other: bytes("\"a\"")))
            #expect(CacheRules.areEqualWeakly(bytes("W/\"a\""), other: bytes("W/\"a\"")))
            #expect(!CacheRules.areEqualWeakly(bytes("\"a\""), other: bytes("\"A\"")))
            #expect(!CacheRules.areEqualWeakly(bytes("w/\"a\""), other: bytes("\"a\"")))
            // Precomposed and decomposed are one to Unicode.
            #expect(!CacheRules.areEqualWeakly(bytes("\"\u{E9}\""), other: bytes("\"e\u{301}\"")))
        }

        @Test("a tag that is no text goes back as it came, T-CAC-10")
        func oddTag() throws {
            let tag: [UInt8] = [0x22, 0xFF, 0xE9, 0x22]
            var fields = HTTPHeaders()
            tag.withUnsafeBytes { fields.append("ETag", bytes: $0) }
            let asked = try request()
            let stored = StoredHead(
                key: asked.key,
                partition: .open,
                vary: [],
                isDecoded: false,
                status: 200,
                version: .http11,
                headers: fields,
                requestTime: 0,
                responseTime: 0,
                responseMonotonic: nil,
                options: []
            )
            #expect(CacheRules.conditions(for: stored).firstBytes("If-None-Match") == tag)
        }

        @Test(
            "what is no tag, or several, is not asked by, T-CAC-10",
            arguments: [
                ["1"], ["\"1"], ["1\""], ["\""], ["w/\"1\""], ["\"1\", \"2\""], ["\"1\"", "\"2\""], [""], ["\"a b\""],
            ]
        )
        func badTags(tags: [String]) throws {
            let stored = head(tags.map { ("ETag", $0) }, for: try request())
            #expect(CacheRules.conditions(for: stored).isEmpty)
        }

        @Test func `both validators are sent, as they came`() throws {
            let changed = "Sunday, 06-Nov-94 08:49:37 GMT"
            let stored = head([("ETag", "W/\"x\""), ("Last-Modified", changed)], for: try request())
            #expect(
                CacheRules.conditions(for: stored)
                    == headers([("If-None-Match", "W/\"x\""), ("If-Modified-Since", changed)])
            )
        }

        @Test("unsafe methods outdate their URL and others of the same origin, T-CAC-14")
        func invalidation() throws {
            func keys(_ method: String, _ status: Int, _ fields: [(String, String)] = []) throws -> [CacheKey] {
                CacheRules.invalidated(
                    by: try request("http://a.test/x/y", method: method),
                    status: status,
                    headers: headers(fields)
                )
            }
            func key(_ url: String) throws -> CacheKey { CacheKey(try RequestURL(url)) }
            let own = try key("http://a.test/x/y")

            for method in ["POST", "PUT", "DELETE", "PATCH", "LOCK", "M-SEARCH"] {
                #expect(try keys(method, 200) == [own])
                #expect(try keys(method, 302) == [own])
                #expect(try keys(method, 404) == [] && keys(method, 500) == [])
            }
            for method in ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"] { #expect(try keys(method, 200) == []) }
            #expect(try keys("POST", 201, [("Location", "/new")]) == [own, try key("http://a.test/new")])
            #expect(try keys("POST", 201, [("Location", "z")]) == [own, try key("http://a.test/x/z")])
            #expect(
                try keys("POST", 200, [("Content-Location", "http://A.test:80/c")]) == [
                    own, try key("http://a.test/c"),
                ]
            )
            let named = try request("http://a.test/x/y", ["Host": "b.test"], method: "POST")
            #expect(
                CacheRules.invalidated(by: named, status: 201, headers: headers([("Location", "z")])) == [
                    named.key, try request("http://a.test/x/z", ["Host": "b.test"]).key,
                ]
            )
            for stranger in [
                "http://b.test/c", "https://a.test/c", "http://a.test:81/c", "//b.test/c", "javascript:1",
                "http://a.test@b.test/",
            ] {
                #expect(try keys("POST", 201, [("Location", stranger)]) == [own])
            }
        }

        @Test func `an answer to HEAD shows that what is stored is another one`() throws {
            let stored = head([("ETag", "\"1\""), ("Content-Length", "5")], for: try request())
            func isOutdated(_ status: Int, _ fields: [(String, String)]) -> Bool {
                CacheRules.isOutdated(stored, byHead: status, headers: headers(fields))
            }
            #expect(isOutdated(200, [("ETag", "\"2\"")]) && isOutdated(200, [("Content-Length", "6")]))
            #expect(isOutdated(200, [("Last-Modified", date(0))]))
            #expect(
                !isOutdated(200, [("ETag", "\"1\""), ("Content-Length", "5")]) && !isOutdated(404, [("ETag", "\"2\"")])
            )
        }
    }
}
