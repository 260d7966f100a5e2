import AFRequest
import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFState

extension CacheTests {
    /// Where one rule ends and the next begins.
    struct RulesAtEdges {
        // MARK: - Bytes

        @Test func `a reader takes what is there`() {
            var reader = FieldReader([1, 2])

            let taken = [-1, 3, 0, 2, 1].map { reader.take($0) }

            #expect(taken == [nil, nil, [], [1, 2], nil] && reader.isAtEnd)
        }

        // MARK: - Requests

        @Test(arguments: [
            (["Cache-Control": "no-store"], true), (["CACHE-CONTROL": ""], true),
            (["A": "b", "cache-control": "x"], true),
            (["X": "cache-control: a"], false), (["XCache-Control": "a"], false), (["C": ""], false), ([:], false),
        ])
        func `a request mentions caches only by the name of a field`(fields: [String: String], mentions: Bool) throws {
            #expect(try CacheTests.frozen("http://a.test/cache-control:", fields).mentionsCaches == mentions)
        }

        // MARK: - Which one, and whether

        @Test func `of several stored responses the latest is chosen, and of one second the last`() throws {
            let asked = try request()
            let heads = [5, 9, 9, 2].map { head([], for: asked, at: Int64($0)) }
            func chosen(_ order: [Int]) -> Int? {
                CacheRules.select(from: order, head: { heads[$0] }, for: asked, under: .clear, decodes: false)
            }
            #expect(chosen([0, 1, 2, 3]) == 2 && chosen([3, 2, 1, 0]) == 1 && chosen([3, 0]) == 0)
            #expect(chosen([0, 3]) == 0 && chosen([]) == nil)
            // Of two that came at once, the one that was asked for later.
            let slow = head([], for: asked, at: 9, delay: 3)
            #expect(
                CacheRules.select(from: [heads[1], slow], head: { $0 }, for: asked, under: .clear, decodes: false)
                    === heads[1]
            )
        }

        @Test func `a request limits the age of what it takes to the second`() throws {
            let fields = [("Date", date(0)), ("Cache-Control", "max-age=100, stale-while-revalidate=60")]
            for (question, seconds, expected) in [
                ("max-age=5", 5, "serve"), ("max-age=5", 6, "network"), ("max-age=0", 0, "network"),
                ("min-fresh=0", 99, "serve"), ("min-fresh=0", 100, "network"), ("min-fresh=1", 99, "serve"),
                ("min-fresh=2", 99, "network"), ("only-if-cached", 130, "serve"), ("only-if-cached", 161, "fail"),
                ("max-age=200", 130, "network"), ("max-stale=5", 105, "serve"), ("max-stale=5", 106, "network"),
                ("x", 130, "serve, validate"),
            ] {
                let plan = try plan(fields, ["Cache-Control": question], after: Int64(seconds))
                #expect(plan == expected, "\(question) after \(seconds)")
            }
        }

        @Test func `a lifetime is never negative`() throws {
            let asked = try request()
            for (expires, expected) in [(-1, 0), (0, 0), (1, 1)] as [(Int64, Int64)] {
                let stored = head([("Date", date(0)), ("Expires", date(expires))], for: asked)
                #expect(CacheRules.lifetime(of: stored) == expected)
            }
            #expect(CacheRules.lifetime(of: head([("Expires", "0")], for: asked)) == 0)
        }

        @Test func `what clocks and caches say of an age that cannot be is not believed`() throws {
            let asked = try request()
            func age(_ stored: StoredHead, at now: CacheInstant) -> Int64 { CacheRules.age(of: stored, now: now) }

            // No number of seconds is none.
            #expect(age(head([("Age", "x")], for: asked, delay: 5), at: at(0)) == 5)
            #expect(age(head([("Age", "3")], for: asked, delay: 5), at: at(0)) == 8)
            // It came before it was asked for.
            #expect(age(head([], for: asked, delay: -1), at: at(0)) == CacheRules.longest)
            // The difference of the times is no number.
            let early = head([], for: asked, at: -CacheTests.start - 10)
            #expect(age(early, at: CacheInstant(wall: .max, monotonic: 5000)) == CacheRules.longest)
            // The clock was set back since a former process.
            func ofFormer(_ responseTime: Int64) -> StoredHead {
                StoredHead(
                    key: asked.key,
                    partition: .open,
                    vary: [],
                    isDecoded: false,
                    status: 200,
                    version: .http11,
                    headers: HTTPHeaders(),
                    requestTime: responseTime,
                    responseTime: responseTime,
                    responseMonotonic: nil,
                    options: []
                )
            }
            #expect(age(ofFormer(CacheTests.start + 1), at: at(0)) == CacheRules.longest)
            #expect(age(ofFormer(CacheTests.start), at: at(0)) == 0)
        }

        @Test func `fields that cannot be read let nothing stand in for an error, and nothing be stored`() throws {
            let asked = try request()
            let good = [("Cache-Control", "max-age=10, stale-if-error=1000")]
            let bad = [("Cache-Control", "max-age=10, stale-if-error=1000, =")]
            func replaces(_ fields: [(String, String)], _ question: CacheRequest) -> Bool {
                CacheRules.mayReplaceError(500, with: head(fields, for: asked), for: question, now: at(20))
            }
            let malformed = try request("http://a.test/page", ["Cache-Control": "max-age=10, ="])

            #expect(replaces(good, asked) && !replaces(bad, asked) && !replaces(good, malformed))
            #expect(CacheRules.mayStore(head(good, for: asked), for: asked) == .anywhere)
            #expect(CacheRules.mayStore(head(bad, for: asked), for: asked) == .no)
            #expect(CacheRules.mayStore(head(good, for: malformed), for: malformed) == .no)
        }

        @Test func `the response to a request with a body is not stored`() throws {
            let url = try RequestURL("http://a.test/page")
            for hasBody in [false, true] {
                let asked = CacheRequest(method: "GET", url: url, headers: HTTPHeaders(), hasBody: hasBody)
                let stored = head([("Cache-Control", "max-age=10")], for: asked)
                #expect(CacheRules.mayStore(stored, for: asked) == (hasBody ? .no : .anywhere))
            }
        }

        @Test func `only Connection names fields of the connection`() {
            let fields = headers([("Connection", "X-Own, Date"), ("Via", "X-Other"), ("X-Other", "1"), ("X-Own", "1")])

            let kept = CacheRules.storedFields(fields)

            #expect(!kept.contains("X-Own") && !kept.contains("Connection"))
            #expect(kept.values("X-Other") == ["1"] && kept.contains("Via"))
        }

        @Test func `empty members of Vary name nothing`() {
            #expect(VaryField.names(in: headers([("Vary", "b,, A,")])) == ["a", "b"])
            #expect(VaryField.names(in: headers([("Vary", "")])) == [])
            #expect(VaryField.names(in: headers([("Vary", "a b")])) == nil)
        }

        // MARK: - Validating

        @Test(arguments: UInt8(0x21)...UInt8.max)
        func `an entity tag may have every visible byte but a quote between its quotes`(byte: UInt8) {
            var fields = HTTPHeaders()
            let tag = Array("\"a".utf8) + [byte] + Array("\"".utf8)
            tag.withUnsafeBytes { fields.append("ETag", bytes: $0) }

            #expect((CacheRules.entityTag(in: fields) != nil) == (byte != 0x22 && byte != 0x7F))
        }

        @Test func `an entity tag has two quotes at least`() {
            for (tag, isGood) in [("\"\"", true), ("W/\"\"", true), ("\"", false), ("W/\"", false), ("\"a b\"", false)]
            {
                #expect((CacheRules.entityTag(in: headers([("ETag", tag)])) != nil) == isGood, "\(tag)")
            }
        }

        @Test func `a server is asked by one date of change that can be read`() throws {
            let asked = try request()
            func conditions(_ dates: String...) -> [String] {
                CacheRules.conditions(for: head(dates.map { ("Last-Modified", $0) }, for: asked))
                    .values("If-Modified-Since")
            }
            #expect(conditions(date(-10)) == [date(-10)])
            #expect(conditions(date(-10), date(-10)) == [] && conditions("yesterday") == [])
        }

        @Test func `a confirmation with a date of change needs one to confirm`() throws {
            let asked = try request()
            func confirms(_ stored: [(String, String)], _ news: [(String, String)]) -> Bool {
                let merged = CacheRules.merge(
                    head(stored, for: asked),
                    with: headers(news),
                    for: asked,
                    requestTime: at(1),
                    responseTime: at(1)
                )
                if case .mismatch = merged { return false }
                return true
            }
            let changed = [("Last-Modified", date(-10))]
            #expect(confirms(changed, changed) && !confirms(changed, [("Last-Modified", date(-9))]))
            #expect(!confirms([], changed) && !confirms(changed, [("Last-Modified", "yesterday")]))
            #expect(confirms([("ETag", "\"a\"")], changed) && confirms(changed, []))
        }

        @Test func `a URL is invalidated once, however often the answer names it`() throws {
            let asked = try request("http://a.test/page", method: "POST")
            let names = headers([
                ("Location", "/new"), ("Content-Location", "/new"), ("Content-Location", "http://b.test/new"),
                ("Content-Location", "/page"),
            ])

            #expect(
                CacheRules.invalidated(by: asked, status: 201, headers: names)
                    == [asked.key, try request("http://a.test/new").key]
            )
        }

        @Test func `the answer to HEAD says nothing about a stored error`() throws {
            let asked = try request()
            let news = headers([("ETag", "\"b\"")])
            for status in [200, 404] {
                let stored = head([("ETag", "\"a\"")], status: status, for: asked)
                #expect(CacheRules.isOutdated(stored, byHead: 200, headers: news) == (status == 200))
            }
        }

        // MARK: - Names of fields

        @Test func `each field of a connection is left out, and none that is as long`() {
            let ofConnection = [
                "TE", "Upgrade", "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding",
                "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info",
            ]
            let others = (1...30).map { (String(repeating: "x", count: $0), "1") }

            for name in ofConnection {
                #expect(CacheRules.storedFields(headers([(name, "a")] + others)) == headers(others), "\(name)")
            }
        }

        @Test func `a request asks something of a cache by the names of its fields`() throws {
            let asking = [
                "Range": "partial", "If-Range": "partial", "If-Match": "conditional", "If-None-Match": "conditional",
                "If-Modified-Since": "conditional", "If-Unmodified-Since": "conditional", "Pragma": "no-cache",
                "Cache-Control": "no-cache",
            ]
            func meaning(_ name: String) throws -> [String] {
                let request = try request("http://a.test/page", [name: "no-cache"])
                return [
                    request.isPartial ? "partial" : nil, request.isConditional ? "conditional" : nil,
                    request.control.noCache ? "no-cache" : nil,
                ].compactMap(\.self)
            }

            for (name, expected) in asking { #expect(try meaning(name) == [expected], "\(name)") }
            for length in 1...30 {
                let name = String(repeating: "x", count: length)
                #expect(try meaning(name).isEmpty, "\(name)")
            }
        }

        // MARK: - Two responses that cross

        @Test func `a stored response stays if it came meanwhile and is the later one`() throws {
            let asked = try request()
            func head(date seconds: Int64?, from: Int64, to: Int64) -> StoredHead {
                CacheTests.head(seconds.map { [("Date", date($0))] } ?? [], for: asked, at: to, delay: to - from)
            }
            // (date, sent, received) of the stored one and of the one that came now.
            let rows: [(stored: (Int64?, Int64, Int64), new: (Int64?, Int64, Int64), stays: Bool)] = [
                ((5, 1, 6), (4, 2, 7), true), ((4, 1, 6), (5, 2, 7), false), ((5, 1, 6), (5, 2, 7), false),
                // Its receipt is the moment at which the other request left, or before it.
                ((9, 1, 6), (4, 6, 7), true), ((9, 1, 6), (4, 7, 8), false),
                // Where the dates are the same, or missing, the one that came later counts.
                ((5, 1, 8), (5, 2, 7), true), ((nil, 1, 8), (nil, 2, 7), true), ((nil, 1, 7), (nil, 2, 8), false),
                ((5, 1, 7), (5, 2, 7), false),
                // A response without a date has that of its receipt.
                ((nil, 1, 6), (5, 2, 7), true), ((nil, 1, 6), (7, 2, 7), false), ((7, 1, 7), (nil, 2, 8), false),
                ((3, 1, 8), (nil, 2, 7), false),
            ]
            for (number, row) in rows.enumerated() {
                let stored = head(date: row.stored.0, from: row.stored.1, to: row.stored.2)
                let new = head(date: row.new.0, from: row.new.1, to: row.new.2)
                #expect(CacheRules.outlives(stored, head: new) == row.stays, "row \(number)")
            }
        }
    }
}
