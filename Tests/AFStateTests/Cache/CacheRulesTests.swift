import AFWire
import Testing

@testable import AFState

extension CacheTests {
    struct Rules {
        // MARK: Vary

        @Test("every field of Vary counts, byte for byte but for blanks, T-CAC-01")
        func vary() throws {
            let asked = try request("http://a.test/page", ["Accept-Language": "de , en", "Accept-Mode": "a"])
            let stored = head([("Vary", "accept-language"), ("VARY", "Accept-Mode")], for: asked)
            func isFor(_ fields: [String: String]) throws -> Bool {
                CacheRules.matches(
                    stored,
                    request: try request("http://a.test/page", fields),
                    under: .clear,
                    decodes: false
                )
            }

            #expect(try isFor(["Accept-Language": "de,en", "accept-mode": "a"]))
            #expect(try isFor(["accept-language": " de,  en", "ACCEPT-MODE": "a "]))
            #expect(try !isFor(["Accept-Language": "de,en", "Accept-Mode": "A"]))
            #expect(try !isFor(["Accept-Language": "de,en"]))
            #expect(try !isFor(["Accept-Language": "en,de", "Accept-Mode": "a"]))
            #expect(try !isFor(["Accept-Language": "de,en,", "Accept-Mode": "a"]))
        }

        @Test("what is in quotes is not blank, T-CAC-01")
        func quotedVary() throws {
            let asked = try request("http://a.test/page", ["X-Mode": "\"a , b\""])
            let other = try request("http://a.test/page", ["X-Mode": "\"a,b\""])
            #expect(VaryField("x-mode", of: asked.headers) != VaryField("x-mode", of: other.headers))
        }

        @Test("blanks around commas are nothing, and everything in quotes is something, T-CAC-01")
        func normalizedVary() {
            for (value, normalized) in [
                (" a ,\t b  c , ", "a,b  c,"), (#""a , b" , c"#, #""a , b",c"#), (#""a\" , b" , c"#, #""a\" , b",c"#),
                (#""a\\" , b"#, #""a\\",b"#), (#"a\" , b" , c"#, #"a\" , b",c"#), (", ,a", ",,a"), ("", ""),
            ] {
                let bytes = VaryField.normalized("x-mode", of: headers([("X-Mode", value)]))
                #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == normalized, "\(value)")
            }
            #expect(VaryField.normalized("x-mode", of: headers([("X-Mod", "a")])) == nil)
            let lines = VaryField.normalized("x-mode", of: headers([("X-Mode", "a "), ("x-mode", " b")]))
            #expect(lines == Array("a,b".utf8))
        }

        @Test(
            "Vary that nothing can match is not stored, T-CAC-01",
            arguments: ["*", "accept, *", " * ", "a b", "\"x\""]
        )
        func unmatchable(text: String) throws {
            let asked = try request()
            let stored = head([("Vary", text), ("Cache-Control", "max-age=60")], for: asked)
            #expect(CacheRules.mayStore(stored, for: asked) == .no)
        }

        // MARK: Directives of responses

        private static let strict = [
            "no-store", "NO-STORE", "No-Store", " no-store ", "max-age=60,no-store", "no-store,max-age=60",
            "no-store, no-store", "no-store=", "no-store=\"\"", "no-store=x", "public, no-store", ",,no-store,,",
            "\tno-store", "x=\"a,b\", no-store", "x=\"\\\"\", no-store", "no-store;", "max-age=60; no-store",
            "max-age=60 no-store", "max-age=\"60, no-store", "private=\"a, no-store", "@, no-store", "max-age=60, =",
            "max-age=60, \"no-store\"", "a==b, no-store", "max-age=60;q=1", "max-age=60, private=\"set-cookie",
            "no-cache=\"Set-Cookie, max-age=60", "max-age=60, no-cache=\"", "max-age=60, {", "(), max-age=60",
            "must-understand, no-store", "private, no-store=\"x\"", "immutable, max-age=60, no-store",
        ]

        @Test("directives that forbid storing, or cannot be read, forbid it, T-CAC-03", arguments: strict)
        func forbidden(text: String) throws {
            let asked = try request()
            let stored = head([("Cache-Control", text), ("ETag", "\"1\"")], for: asked)
            #expect(CacheRules.mayStore(stored, for: asked) == .no)
        }

        private static let unfresh = [
            "no-cache", "No-Cache", "no-cache=\"Set-Cookie\"", "no-cache=\"\"", "no-cache=", "no-cache = \"a\"",
            "max-age=60, no-cache", "no-cache, max-age=60", "no-cache=\"a, b\", max-age=60", "no-cache=x, max-age=60",
            "max-age=0", "max-age=", "max-age", "max-age=x", "max-age=-1", "max-age=+60", "max-age=60s", "max-age=6 0",
            "max-age=\"\"", "max-age=60, max-age=0", "max-age=0, max-age=60", "max-age=60, max-age=x",
            "s-maxage=60", "public", "private", "must-revalidate", "max-age=0, stale-if-error=60", "max-age=1e9",
            "max-age=0x60", "max-age=６0", "MAX-AGE=0", "max-age='60'", "private=\"x\", max-age=0",
        ]

        @Test("a response that is not clearly fresh is validated, T-CAC-03", arguments: unfresh)
        func asked(text: String) throws {
            // The blank within a number makes the field unreadable.
            let outcome = try plan([("Cache-Control", text), ("ETag", "\"1\"")], after: 1)
            #expect(outcome == "validate")
        }

        private static let lasting = [
            "max-age=60", "MAX-AGE=60", "max-age = 60", "max-age=\"60\"", "private, max-age=60",
            "private=\"x\", max-age=60",
            "public,max-age=60", "max-age=60, max-age=90", "max-age=90, max-age=60", "max-age=060", ", max-age=60 ,",
            "max-age=60, foo", "foo=bar, max-age=60", "foo=\"a, no-store\", max-age=60", "max-age=99999999999999999999",
            "s-maxage=0, max-age=60", "max-age=60, must-revalidate", "max-age=60, proxy-revalidate",
            "max-age=60,immutable",
            "private=\"set-cookie, x\", max-age=60", "max-age=60, no-transform", "max-age=60\t,\tpublic",
        ]

        @Test("a response that is clearly fresh is served, T-CAC-03", arguments: lasting)
        func served(text: String) throws {
            let asked = try request()
            #expect(try plan([("Cache-Control", text), ("ETag", "\"1\"")], after: 59) == "serve")
            #expect(CacheRules.mayStore(head([("Cache-Control", text)], for: asked), for: asked) == .anywhere)
        }

        @Test("random bytes in Cache-Control never trap and never make fresh, T-CAC-03")
        func randomBytes() throws {
            var random = SeededBytes(seed: 3)
            let asked = try request()
            for _ in 0..<3000 {
                let text = random.text(from: "no-stremaxgpivbcu=\"\\,; \t09", upTo: 40)
                let stored = head([("Cache-Control", "no-store," + text), ("ETag", "\"1\"")], for: asked)
                #expect(CacheRules.mayStore(stored, for: asked) == .no, "\(text)")
            }
        }

        // MARK: Directives of requests

        @Test(
            "directives of requests are honoured in any case, T-CAC-04",
            arguments: [
                ("no-cache", 10, "validate"), ("NO-CACHE", 10, "validate"), ("max-age=5", 10, "validate"),
                ("Max-Age=5", 4, "serve"), ("max-age=0", 0, "validate"), ("max-age=0", 1, "validate"),
                ("min-fresh=51", 10, "validate"), ("min-fresh=50", 10, "serve"), ("max-stale", 1000, "serve"),
                ("max-stale=10", 69, "serve"), ("max-stale=10", 71, "validate"), ("no-store", 10, "network"),
                ("only-if-cached", 10, "serve"), ("ONLY-IF-CACHED", 100, "fail"),
                ("only-if-cached, max-stale", 100, "serve"),
                ("only-if-cached, no-store", 10, "fail"), ("only-if-cached, no-cache", 10, "fail"),
                ("max-age=x", 10, "validate"), ("max-age=60, \"", 10, "validate"), ("max-age=60", 60, "validate"),
            ] as [(String, Int64, String)]
        )
        func requestDirectives(text: String, age: Int64, outcome: String) throws {
            let stored = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(try plan(stored, ["cache-CONTROL": text], after: age) == outcome)
        }

        @Test("Pragma counts where Cache-Control is missing, T-CAC-04")
        func pragma() throws {
            let stored = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(try plan(stored, ["Pragma": "No-Cache"], after: 1) == "validate")
            #expect(try plan(stored, ["Pragma": "no-cache", "Cache-Control": "max-age=9"], after: 1) == "serve")
        }

        // MARK: Freshness

        @Test(
            "times that cannot be read, or are too great, make nothing fresh for ever, T-CAC-06",
            arguments: [
                ([("Age", "99999999999999999999")], 1, false), ([("Age", "2147483649")], 1, false),
                ([("Age", "59")], 0, true), ([("Age", "59")], 1, false),
                ([("Date", "yesterday")], 59, true), ([("Date", "yesterday")], 60, false),
                ([("Date", "Mon, 99 Nov 2026 00:00:00 GMT")], 59, true), ([("Date", "")], 60, false),
                ([("Date", "x"), ("Date", date(-30))], 29, true), ([("Date", "x"), ("Date", date(-30))], 30, false),
                ([("Date", date(-30)), ("Date", date(-20))], 29, true),
                ([("Date", date(-20)), ("Date", date(-30))], 30, false),
                ([("Date", date(-59))], 0, true), ([("Date", date(-60))], 0, false), ([("Date", date(1000))], 59, true),
                ([("Date", date(1000))], 60, false),
            ] as [([(String, String)], Int64, Bool)]
        )
        func ages(fields: [(String, String)], after: Int64, isFresh: Bool) throws {
            let outcome = try plan(fields + [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")], after: after)
            #expect(outcome == (isFresh ? "serve" : "validate"))
        }

        @Test(
            "Expires is compared with Date, and what is no date is in the past, T-CAC-06",
            arguments: [
                ([("Expires", date(60))], 59, true), ([("Expires", date(60))], 60, false),
                ([("Expires", "0")], 0, false),
                ([("Expires", "-1")], 0, false), ([("Expires", "")], 0, false), ([("Expires", "never")], 0, false),
                ([("Expires", date(60)), ("Date", date(-30))], 59, true),
                ([("Expires", date(60)), ("Expires", "0")], 0, false),
                ([("Expires", date(90)), ("Expires", date(10))], 20, false),
                ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], 1_000_000_000, true),
                ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], 1 << 31, false),
                ([("Expires", date(60)), ("Cache-Control", "max-age=0")], 0, false),
                ([("Expires", date(60)), ("Date", "x")], 59, true),
                ([("Expires", date(60)), ("Date", "x")], 60, false),
                ([("Expires", date(60).lowercased())], 59, true), ([("Expires", date(60).uppercased())], 59, true),
                ([("Expires", "0"), ("Cache-Control", "max-age=60")], 59, true),
            ] as [([(String, String)], Int64, Bool)]
        )
        func expiry(fields: [(String, String)], after: Int64, isFresh: Bool) throws {
            #expect(try plan(fields + [("ETag", "\"1\"")], after: after) == (isFresh ? "serve" : "validate"))
        }

        @Test(
            "of several members of Age the first counts, and one that is no number is ignored, T-CAC-06",
            arguments: [
                (["x"], 0), (["-5"], 0), (["+5"], 0), (["1.5"], 0), (["5 s"], 0), (["５"], 0), ([""], 0), ([], 0),
                (["0"], 0), (["007"], 7), ([" 7 "], 7), (["0, 0"], 0), (["1, 60"], 1), (["60, 1"], 60), (["7, x"], 7),
                (["x, 7"], 0), ([",, 7"], 7), (["1", "60"], 1), (["x", "60"], 0), (["", "60"], 60),
                (["2147483648"], 1 << 31), (["99999999999999999999"], 1 << 31),
            ] as [([String], Int64)]
        )
        func announcedAges(values: [String], age: Int64) throws {
            let stored = head(values.map { ("Age", $0) }, for: try request())
            #expect(CacheRules.age(of: stored, now: at(0)) == age)
            #expect(CacheRules.age(of: stored, now: at(3)) == min(age + 3, 1 << 31))
        }

        @Test("the time a response was under way counts, T-CAC-06")
        func delay() throws {
            let asked = try request()
            let stored = head([("Cache-Control", "max-age=60"), ("Age", "10")], for: asked, delay: 20)
            #expect(CacheRules.age(of: stored, now: at(5)) == 35)
        }

        @Test("a tenth of the age is guessed, at most a day, for some statuses, without a query, T-CAC-07")
        func guesses() throws {
            let asked = try request()
            let question = try request("http://a.test/page?x=1")
            func lifetime(_ changed: Int64, status: Int = 200, for request: CacheRequest) -> Int64 {
                CacheRules.lifetime(of: head([("Last-Modified", date(-changed))], status: status, for: request))
            }

            #expect(lifetime(1000, for: asked) == 100)
            #expect(lifetime(1_000_000_000, for: asked) == 86_400)
            #expect(lifetime(-1000, for: asked) == 0)
            #expect(lifetime(1000, for: question) == 0)
            for status in 200..<1000 {
                let isGuessed = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
                #expect(lifetime(1000, status: status, for: asked) == (isGuessed ? 100 : 0))
                let guessed = head([("Last-Modified", date(-1000))], status: status, for: asked)
                #expect((CacheRules.mayStore(guessed, for: asked) == .anywhere) == isGuessed, "\(status)")
                let changing = head([("Last-Modified", date(-9))], status: status, for: asked)
                let isKept = [200, 203, 204].contains(status)
                #expect((CacheRules.mayStore(changing, for: asked) == .anywhere) == isKept, "\(status)")
            }
            let undated = head([("Last-Modified", date(-1000)), ("Date", "x")], for: asked)
            #expect(CacheRules.lifetime(of: undated) == 100)
            let bad = head([("Last-Modified", "x"), ("Last-Modified", date(-1000))], for: asked)
            #expect(CacheRules.lifetime(of: bad) == 0)
        }

        @Test("a clock that jumps makes nothing immortal, T-CAC-32")
        func clockJumps() throws {
            let asked = try request()
            let here = head([("Cache-Control", "max-age=60")], for: asked)
            let before = StoredHead(
                key: here.key,
                partition: .open,
                vary: [],
                isDecoded: false,
                status: 200,
                version: .http11,
                headers: here.headers,
                requestTime: start,
                responseTime: start,
                responseMonotonic: nil,
                options: []
            )
            let setBack = CacheInstant(wall: start - 1_000_000, monotonic: 5030)
            let setBackLater = CacheInstant(wall: start - 1_000_000, monotonic: 5061)
            let setForth = CacheInstant(wall: start + 1_000_000, monotonic: 5001)

            #expect(CacheRules.isUsable(here, for: asked, now: setBack) == .fresh)
            #expect(CacheRules.isUsable(here, for: asked, now: setBackLater) == .no)
            #expect(CacheRules.isUsable(here, for: asked, now: setForth) == .no)
            #expect(CacheRules.isUsable(before, for: asked, now: setBack) == .no)
            #expect(CacheRules.isUsable(before, for: asked, now: at(30)) == .fresh)
            #expect(CacheRules.age(of: before, now: CacheInstant(wall: .min, monotonic: .min)) == CacheRules.longest)
        }

        @Test(
            "stale is served only as far as it is allowed, T-CAC-13",
            arguments: [
                ("max-age=10, stale-while-revalidate=20", 30, "serve, validate"),
                ("max-age=10, stale-while-revalidate=20", 31, "validate"),
                ("max-age=10, stale-while-revalidate=20, must-revalidate", 11, "validate"),
                ("max-age=10, stale-while-revalidate=20, no-cache", 11, "validate"),
                ("max-age=10, stale-while-revalidate=x", 11, "validate"),
                ("max-age=10, must-revalidate", 9, "serve"), ("max-age=10, must-revalidate", 10, "validate"),
            ] as [(String, Int64, String)]
        )
        func stale(text: String, age: Int64, outcome: String) throws {
            #expect(try plan([("Cache-Control", text), ("ETag", "\"1\"")], after: age) == outcome)
            // The most generous of requests cannot overrule the response.
            if text.contains("must-revalidate"), age > 9 {
                let fields = [("Cache-Control", text), ("ETag", "\"1\"")]
                #expect(try plan(fields, ["Cache-Control": "max-stale"], after: age) == "validate")
            }
        }

        @Test("errors are replaced only within stale-if-error, T-CAC-13")
        func errors() throws {
            let plain = try request()
            let tolerant = try request("http://a.test/page", ["Cache-Control": "stale-if-error=100"])
            func mayReplace(_ status: Int?, _ text: String, _ age: Int64, _ request: CacheRequest) -> Bool {
                let stored = head([("Cache-Control", text)], for: request)
                return CacheRules.mayReplaceError(status, with: stored, for: request, now: at(age))
            }
            let text = "max-age=10, stale-if-error=20"

            for status in [500, 502, 503, 504, nil] { #expect(mayReplace(status, text, 30, plain)) }
            for status in [200, 304, 400, 404, 501] { #expect(!mayReplace(status, text, 30, plain)) }
            #expect(!mayReplace(503, text, 31, plain))
            #expect(!mayReplace(503, text + ", must-revalidate", 11, plain))
            #expect(!mayReplace(503, text + ", no-cache", 11, plain))
            #expect(!mayReplace(503, "max-age=10", 11, plain))
            for unwilling in ["no-cache", "no-store", "stale-if-error=100, @"] {
                #expect(!mayReplace(503, text, 11, try request("http://a.test/page", ["Cache-Control": unwilling])))
            }
            #expect(mayReplace(nil, "max-age=10", 110, tolerant))
            #expect(!mayReplace(nil, "max-age=10", 111, tolerant))
        }

        @Test func `a response without a validator is not asked about, but may stand in for an error`() throws {
            let plain = try request()
            func plan(_ text: String, after age: Int64, _ request: CacheRequest) -> CachePlan {
                let stored = head([("Cache-Control", text)], for: request)
                return CacheRules.plan(request, policy: .useProtocolCachePolicy, stored: stored, now: at(age))
            }
            let text = "max-age=10, stale-if-error=20"

            #expect(plan(text, after: 9, plain) == .serve)
            #expect(plan(text, after: 30, plain) == .validate(HTTPHeaders()))
            #expect(plan(text, after: 31, plain) == .network(HTTPHeaders()))
            #expect(plan(text + ", must-revalidate", after: 30, plain) == .network(HTTPHeaders()))
            #expect(plan("max-age=10", after: 30, plain) == .network(HTTPHeaders()))
            let impatient = try request("http://a.test/page", ["Cache-Control": "only-if-cached"])
            #expect(plan(text, after: 30, impatient) == .fail)
        }

        @Test("which statuses are kept, which take the place of what is kept, and which make it outdated")
        func statuses() throws {
            let asked = try request()
            let posted = try request(method: "POST")
            let never: Set = [206, 304, 401, 407, 428, 429, 431, 511]
            for status in 100..<1000 {
                let mayBeKept = status >= 200 && !never.contains(status)
                let lasting = [
                    [("Cache-Control", "max-age=60")], [("Expires", date(1))],
                    [("Cache-Control", "private, max-age=1"), ("Expires", "0")],
                ]
                for fields in lasting {
                    let storage = CacheRules.mayStore(head(fields, status: status, for: asked), for: asked)
                    #expect(storage == (mayBeKept ? .anywhere : .no), "\(status)")
                }
                // Without a word about how long, an error or a redirect comes again by itself.
                for fields in [
                    [("ETag", "\"1\"")], [("Cache-Control", "max-age=0"), ("ETag", "\"1\"")],
                    [("Expires", "0"), ("ETag", "\"1\"")],
                    [("Cache-Control", "public, s-maxage=60"), ("ETag", "\"1\"")],
                ] {
                    let unsure = head(fields, status: status, for: asked)
                    let isKept = [200, 203, 204].contains(status)
                    #expect((CacheRules.mayStore(unsure, for: asked) != .no) == isKept, "\(status)")
                }
                let replaces =
                    (200..<300).contains(status) && status != 206 || [300, 301, 308, 404, 410].contains(status)
                #expect(CacheRules.replaces(status) == replaces, "\(status)")
                let outdated = CacheRules.invalidated(by: posted, status: status, headers: headers([]))
                #expect(outdated == ((200..<400).contains(status) ? [posted.key] : []), "\(status)")
            }
        }

        @Test func `a status that needs a lifetime is considered only if a field could tell of one`() {
            func headers(_ fields: [(String, String)]) -> ResponseFacts {
                ResponseFacts(of: CacheTests.headers(fields))
            }
            for status in [200, 203, 204] { #expect(CacheRules.mayBeOfUse(status, facts: headers([]))) }
            for status in [201, 299, 301, 404, 503, 999] {
                for name in ["Cache-Control", "Last-Modified", "Expires"] {
                    #expect(CacheRules.mayBeOfUse(status, facts: headers([(name, "x")])))
                }
                #expect(!CacheRules.mayBeOfUse(status, facts: headers([("ETag", "\"1\""), ("Date", date(0))])))
            }
            for status in [100, 199, 206, 304, 401, 407, 428, 429, 431, 511] {
                #expect(!CacheRules.mayBeOfUse(status, facts: headers([("Cache-Control", "max-age=60")])))
            }
        }

        @Test("an immutable response is not validated while fresh")
        func immutable() throws {
            let fields = [("Cache-Control", "max-age=60, immutable"), ("ETag", "\"1\"")]
            #expect(try plan(fields, policy: .reloadRevalidatingCacheData, after: 59) == "serve")
            #expect(try plan(fields, policy: .reloadRevalidatingCacheData, after: 60) == "validate")
            #expect(try plan([("ETag", "\"1\"")], policy: .reloadRevalidatingCacheData, after: 0) == "validate")
            #expect(try plan([], policy: .reloadRevalidatingCacheData, after: 0) == "network")
        }

        // MARK: Policies and methods

        @Test(
            "every cache policy does as it says",
            arguments: [
                (.useProtocolCachePolicy, "serve", "validate", "network"),
                (.reloadIgnoringLocalCacheData, "network", "network", "network"),
                (.reloadIgnoringLocalCacheData, "network", "network", "network"),
                (.reloadIgnoringLocalAndRemoteCacheData, "network", "network", "network"),
                (.returnCacheDataElseLoad, "serve", "serve", "network"),
                (.returnCacheDataDontLoad, "serve", "serve", "fail"),
                (.reloadRevalidatingCacheData, "validate", "validate", "network"),
            ] as [(CacheUse, String, String, String)]
        )
        func policies(policy: CacheUse, fresh: String, stale: String, missing: String) throws {
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(try plan(fields, policy: policy, after: 1) == fresh)
            #expect(try plan(fields, policy: policy, after: 61) == stale)
            let asked = try request()
            let isFailing = CacheRules.plan(asked, policy: policy, stored: nil, now: at(0)) == .fail
            #expect(isFailing == (missing == "fail"))
            let reluctant = try request("http://a.test/page", ["Cache-Control": "only-if-cached"])
            #expect(CacheRules.plan(reluctant, policy: policy, stored: nil, now: at(0)) == .fail)
        }

        @Test func `caches on the way are told not to answer`() throws {
            let plan = CacheRules.plan(
                try request(),
                policy: .reloadIgnoringLocalAndRemoteCacheData,
                stored: nil,
                now: at(0)
            )
            #expect(plan == .network(headers([("Cache-Control", "no-cache"), ("Pragma", "no-cache")])))
        }

        @Test func `a request for confirmation has caches on the way ask as well`() throws {
            func plan(_ fields: [(String, String)]?, _ question: [String: String] = [:]) throws -> CachePlan {
                let asked = try request("http://a.test/page", question)
                let stored = fields.map { head($0, for: asked) }
                return CacheRules.plan(asked, policy: .reloadRevalidatingCacheData, stored: stored, now: at(1))
            }
            let asking = [("Cache-Control", "max-age=0")]
            let tag = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(try plan(tag) == .validate(headers([("If-None-Match", "\"1\"")] + asking)))
            #expect(try plan([("Cache-Control", "max-age=60")]) == .network(headers(asking)))
            #expect(try plan(nil) == .network(headers(asking)))
            #expect(try plan(tag, ["If-None-Match": "x"]) == .network(headers(asking)))
            #expect(try plan([("Cache-Control", "max-age=60, immutable"), ("ETag", "\"1\"")]) == .serve)
            for fields in [tag, nil] { #expect(try plan(fields, ["Cache-Control": "only-if-cached"]) == .fail) }
            // By the rules of HTTP alone a cache on the way may have a fresher one, which will do.
            let asked = try request()
            let stale = head(tag, for: asked)
            let usual = CacheRules.plan(asked, policy: .useProtocolCachePolicy, stored: stale, now: at(60))
            #expect(usual == .validate(headers([("If-None-Match", "\"1\"")])))
        }

        @Test("only GET is stored, only GET and HEAD are answered, and never parts, T-CAC-33")
        func methods() throws {
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(try plan(fields, after: 1, method: "HEAD") == "serve")
            for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "patch", "QUERY"] {
                #expect(try plan(fields, after: 1, method: method) == "network")
                #expect(try plan(fields, policy: .returnCacheDataElseLoad, after: 1, method: method) == "network")
                #expect(try plan(fields, policy: .returnCacheDataDontLoad, after: 1, method: method) == "fail")
                let asked = try request(method: method)
                #expect(CacheRules.mayStore(head(fields, for: asked), for: asked) == .no)
            }
            for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match"] {
                #expect(try plan(fields, [name: "bytes=0-1"], after: 1) == "network")
                #expect(try plan(fields, [name: "x"], policy: .returnCacheDataElseLoad, after: 1) == "network")
            }
            let asked = try request()
            #expect(
                CacheRules.mayStore(head(fields, for: try request(method: "HEAD")), for: try request(method: "HEAD"))
                    == .no
            )
            #expect(CacheRules.mayStore(head(fields, for: asked), for: asked) == .anywhere)
        }

        @Test("partial content is never stored, T-CAC-12")
        func parts() throws {
            let asked = try request()
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
            #expect(CacheRules.mayStore(head(fields, status: 206, for: asked), for: asked) == .no)
            let odd = head(fields + [("Content-Range", "bytes 0-1/2")], for: asked)
            #expect(CacheRules.mayStore(odd, for: asked) == .no)
        }

        @Test func `a response with neither lifetime nor validator is stored, for requests that accept any age`() throws
        {
            let bare = [("Content-Type", "text/plain")]
            let asked = try request()
            for status in 100..<1000 {
                let storage = CacheRules.mayStore(head(bare, status: status, for: asked), for: asked)
                #expect(storage == ([200, 203, 204].contains(status) ? .inMemory : .no), "\(status)")
            }
            for fields in [bare, [], [("Cache-Control", "no-cache")], [("Cache-Control", "max-age=0")]] {
                for seconds in [0, 1, 1000] as [Int64] {
                    #expect(try plan(fields, after: seconds) == "network")
                    #expect(try plan(fields, policy: .reloadRevalidatingCacheData, after: seconds) == "network")
                    #expect(try plan(fields, policy: .reloadIgnoringLocalCacheData, after: seconds) == "network")
                    #expect(try plan(fields, policy: .returnCacheDataElseLoad, after: seconds) == "serve")
                    #expect(try plan(fields, policy: .returnCacheDataDontLoad, after: seconds) == "serve")
                    #expect(try plan(fields, ["Cache-Control": "only-if-cached"], after: seconds) == "fail")
                }
            }
        }

        @Test("a response with neither lifetime nor validator is served stale only if one side says so, T-CAC-13")
        func bareAndStale() throws {
            // The request (RFC 9111 §5.2.1.2) …
            #expect(try plan([], ["Cache-Control": "max-stale"], after: 1000) == "serve")
            #expect(try plan([], ["Cache-Control": "max-stale=5"], after: 5) == "serve")
            #expect(try plan([], ["Cache-Control": "max-stale=5"], after: 6) == "network")
            for text in ["max-age=1000", "min-fresh=0", "stale-while-revalidate=1000"] {
                #expect(try plan([], ["Cache-Control": text], after: 1) == "network")
            }
            #expect(try plan([], ["Cache-Control": "stale-if-error=5"], after: 5) == "validate")
            #expect(try plan([], ["Cache-Control": "stale-if-error=5"], after: 6) == "network")
            // … or the response (RFC 5861 §3).
            let fields = [("Cache-Control", "stale-while-revalidate=5")]
            #expect(try plan(fields, after: 5) == "serve, validate")
            #expect(try plan(fields, after: 6) == "network")
            let plain = try request()
            for status in [500, 503, nil] {
                let bare = head([], for: plain)
                #expect(!CacheRules.mayReplaceError(status, with: bare, for: plain, now: at(0)))
            }
        }

        @Test func `a redirect or an error without a lifetime is not stored`() throws {
            let asked = try request()
            for status in [301, 302, 404, 410] {
                #expect(CacheRules.mayStore(head([("ETag", "\"1\"")], status: status, for: asked), for: asked) == .no)
                let said = head([("Cache-Control", "max-age=9")], status: status, for: asked)
                #expect(CacheRules.mayStore(said, for: asked) == .anywhere)
            }
        }

        @Test func `must-understand stores statuses whose rules are known, and never beside no-store`()
            throws
        {
            let known: Set = [200, 203, 204, 300, 301, 302, 307, 308, 404, 405, 410, 414, 501]
            let asked = try request()
            for status in 200..<1000 {
                let fields = [("Cache-Control", "max-age=60"), ("Cache-Control", "Must-Understand")]
                let storage = CacheRules.mayStore(head(fields, status: status, for: asked), for: asked)
                #expect(storage == (known.contains(status) ? .anywhere : .no), "\(status)")
                // RFC 9111 §5.2.2.3 lets a cache ignore no-store here, which no cache has to.
                let silent = head(fields + [("Cache-Control", "no-store")], status: status, for: asked)
                #expect(CacheRules.mayStore(silent, for: asked) == .no)
            }
        }

        @Test("an error about a range or a condition is not stored for those who ask without one, T-CAC-33")
        func errorsAboutParts() throws {
            for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"] {
                let asked = try request("http://a.test/page", [name: "x"])
                for (status, isKept) in [
                    (200, true), (404, true), (400, false), (412, false), (416, false), (299, false),
                ] {
                    let said = head([("Cache-Control", "max-age=9")], status: status, for: asked)
                    #expect((CacheRules.mayStore(said, for: asked) == .anywhere) == isKept, "\(status)")
                }
            }
        }

        @Test(
            "what depends on a secret stays in memory, T-CAC-26",
            arguments: ["Cookie", "authorization", "Proxy-Authorization", "X-Api-Key", "PRIVATE-TOKEN"]
        )
        func secrets(name: String) throws {
            let asked = try request()
            let stored = head([("Cache-Control", "max-age=9"), ("Vary", name)], for: asked)
            #expect(CacheRules.mayStore(stored, for: asked) == .inMemory)
            let silent = try request("http://a.test/page", ["Cache-Control": "no-store"])
            #expect(CacheRules.mayStore(head([("Cache-Control", "max-age=9")], for: silent), for: silent) == .no)
        }

        @Test func `fields of the connection are not kept, whatever it calls so`() {
            let kept = CacheRules.storedFields(
                headers([
                    ("Connection", "close, X-Hop, Vary"), ("X-Hop", "1"), ("Vary", "a"),
                    ("Transfer-Encoding", "chunked"),
                    ("Keep-Alive", "timeout=5"), ("X-Stays", "1"), ("Proxy-Authenticate", "Basic"),
                ])
            )
            #expect(kept == headers([("Vary", "a"), ("X-Stays", "1")]))
        }
    }
}

/// Text of few characters, so that it hits what parsers look for.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func number(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    mutating func text(from alphabet: String, upTo length: Int) -> String {
        let bytes = Array(alphabet.utf8)
        return String(
            decoding: (0..<number(below: length)).map { _ in bytes[number(below: bytes.count)] },
            as: UTF8.self
        )
    }
}
