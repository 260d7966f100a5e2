import AFTLS
import AFWire
import Testing

@testable import AFState

extension CacheTests {
    /// For whom a stored response is, and who is only told of it.
    struct RulesForUsers {
        private static let url = "http://a.test/page"
        private static let epoch = CookieEpoch.begin()

        private func asked(_ fields: [String: String] = [:], url: String = Self.url) throws -> CacheRequest {
            try request(url, fields)
        }

        /// The response to a request.
        private func answer(
            to asked: CacheRequest,
            _ fields: [(String, String)] = [("ETag", "\"1\""), ("Cache-Control", "max-age=60")],
            status: Int = 200,
            epoch: CookieEpoch = Self.epoch,
            isDecoded: Bool = false,
            options: CacheOptions = []
        ) -> StoredHead {
            let fields = headers(fields)
            return StoredHead(
                key: asked.key,
                partition: CachePartition(.clear, for: asked.identities, options: options),
                vary: (VaryField.names(in: fields) ?? []).map { VaryField($0, of: asked.headers) },
                isDecoded: isDecoded,
                status: status,
                version: .http11,
                headers: fields,
                requestTime: start,
                responseTime: start,
                responseMonotonic: 5000,
                options: options,
                cookies: CookieOrigin(epoch, of: asked, options: options)
            )
        }

        // MARK: - Another's cookies

        @Test func `cookies of a storage have an origin, which differs with what else names the user`() throws {
            let one = try asked(["Cookie": "a=1"])
            let origin = try #require(CookieOrigin(Self.epoch, of: one, options: []))
            #expect(CookieOrigin(.none, of: one, options: []) == nil)
            #expect(try CookieOrigin(Self.epoch, of: asked(), options: []) == nil)
            #expect(try CookieOrigin(Self.epoch, of: asked(["X-User": "ann"]), options: []) == nil)
            #expect(try CookieOrigin(Self.epoch, of: asked(["Cookie": "a=2"]), options: []) == origin)
            #expect(CookieOrigin(.begin(), of: one, options: []) != origin)
            // Of a program that acts for one user only secrets are another's.
            for (name, isSecret) in [("X-User", false), ("X-Api-Key", true)] {
                let other = try asked(["Cookie": "a=1", name: "ann"])
                #expect(CookieOrigin(Self.epoch, of: other, options: []) != origin)
                let isOther = CookieOrigin(Self.epoch, of: other, options: .servesOneUser) != origin
                #expect(isOther == isSecret)
            }
        }

        @Test func `a response to other cookies of the storage is asked about, and never given away`() throws {
            let stored = answer(to: try asked(["Cookie": "a=1"]))
            let fields = headers([("If-None-Match", "\"1\"")])
            let fresh = headers([("If-None-Match", "\"1\""), ("Cache-Control", "max-age=0")])
            func plan(_ policy: CacheUse, _ control: String? = nil, of other: StoredHead? = nil) throws -> CachePlan {
                let own = ["Cookie": "a=2"].merging(control.map { ["Cache-Control": $0] } ?? [:]) { $1 }
                return CacheRules.plan(try asked(own), policy: policy, stored: other ?? stored, now: at(1))
            }
            #expect(try plan(.useProtocolCachePolicy) == .validate(fields))
            #expect(try plan(.reloadRevalidatingCacheData) == .validate(fresh))
            #expect(try plan(.reloadIgnoringLocalCacheData) == .network && plan(.returnCacheDataElseLoad) == .network)
            #expect(try plan(.returnCacheDataDontLoad) == .fail)
            // The request wants nothing kept, or nothing sent; or no tag tells one content from another.
            #expect(try plan(.useProtocolCachePolicy, "no-store") == .network)
            #expect(try plan(.useProtocolCachePolicy, "only-if-cached") == .fail)
            for tags in [[("ETag", "W/\"1\"")], [("Last-Modified", date(-9))], [("ETag", "\"1\""), ("ETag", "\"2\"")]] {
                let weak = answer(to: try asked(["Cookie": "a=1"]), tags + [("Cache-Control", "max-age=60")])
                #expect(try plan(.useProtocolCachePolicy, of: weak) == .network)
            }
            // The one who got it need not ask.
            let own = CacheRules.plan(
                try asked(["Cookie": "a=1"]),
                policy: .useProtocolCachePolicy,
                stored: stored,
                now: at(1)
            )
            #expect(own == .serve)
        }

        @Test func `one response is chosen of those to other cookies if none is the request's own`() throws {
            let (one, two) = (try asked(["Cookie": "a=1"]), try asked(["Cookie": "a=2"]))
            let stored = [answer(to: one), answer(to: two), answer(to: one, [("ETag", "W/\"1\"")])]
            func chosen(_ numbers: [Int], epoch: CookieEpoch = Self.epoch) -> Int? {
                CacheRules.select(
                    from: numbers,
                    head: { stored[$0] },
                    for: two,
                    under: .clear,
                    decodes: false,
                    origin: CookieOrigin(epoch, of: two, options: [])
                )
            }
            #expect(chosen([0, 1]) == 1 && chosen([1, 0]) == 1 && chosen([0]) == 0)
            // What cannot be asked about is of no use.
            #expect(chosen([2]) == nil && chosen([0, 2]) == 0)
            #expect(chosen([0], epoch: .begin()) == nil && chosen([0], epoch: .none) == nil)
        }

        @Test func `a response is for other cookies if all else is the same`() throws {
            let two = try asked(["Cookie": "a=2", "Accept": "x"])
            func isFor(
                _ first: CacheRequest,
                _ fields: [(String, String)] = [("ETag", "\"1\"")],
                status: Int = 200,
                epoch: CookieEpoch = Self.epoch,
                isDecoded: Bool = false,
                of origin: CookieOrigin? = CookieOrigin(Self.epoch, of: two, options: []),
                under scope: TrustScope = .clear
            ) -> Bool {
                let stored = answer(to: first, fields, status: status, epoch: epoch, isDecoded: isDecoded)
                return CacheRules.isForOtherCookies(stored, request: two, of: origin, under: scope, decodes: false)
            }
            let one = try asked(["Cookie": "a=1", "Accept": "x"])
            #expect(isFor(one) && !isFor(one, of: nil) && !isFor(one, epoch: .begin()) && !isFor(one, epoch: .none))
            #expect(!isFor(one, status: 203) && !isFor(one, status: 201) && !isFor(one, status: 199))
            #expect(!isFor(one, under: .program) && !isFor(one, under: .rules([1], isProven: true)))
            #expect(try !isFor(asked(["Cookie": "a=1", "Accept": "x"], url: Self.url + "/2")))
            #expect(try !isFor(asked(["Cookie": "a=1", "Accept": "x", "X-User": "ann"])))
            #expect(isFor(one, isDecoded: true) && !isFor(one, [("Content-Encoding", "gzip")], isDecoded: true))
            // Cookies differ in any case; other fields must not.
            let vary = ["Cookie", "Accept, Cookie", "Accept"]
            #expect(vary.allSatisfy { isFor(one, [("Vary", $0)]) })
            let other = try asked(["Cookie": "a=1", "Accept": "y"])
            #expect(isFor(other, [("Vary", "Cookie")]) && !isFor(other, [("Vary", "Accept, Cookie")]))
        }

        @Test func `to a request of another user a 304 names the very content`() throws {
            let one = try asked(["Cookie": "a=1"])
            func owner(_ tag: String, _ news: [(String, String)], _ cookie: String) throws -> CachePartition? {
                let two = try asked(["Cookie": cookie])
                let merged = CacheRules.merge(
                    answer(to: one, [("ETag", tag)]),
                    with: headers(news),
                    for: two,
                    requestTime: at(1),
                    responseTime: at(2)
                )
                guard case .confirmed(let head) = merged else { return nil }
                // From now on it is the response to this request.
                #expect(
                    head.partition.admits(two.identities)
                        && head.cookies == CookieOrigin(Self.epoch, of: two, options: [])
                )
                return head.partition
            }
            for (tag, news) in [("\"1\"", []), ("W/\"1\"", [("ETag", "W/\"1\"")]), ("\"1\"", [("ETag", "W/\"1\"")])] {
                #expect(try owner(tag, news, "a=1") != nil && owner(tag, news, "a=2") == nil, "\(tag) \(news)")
            }
            let news = [("ETag", "\"1\"")]
            let (first, second) = (try owner("\"1\"", news, "a=1"), try owner("\"1\"", news, "a=2"))
            #expect(first != nil && second != nil && first != second)
            #expect(try owner("\"2\"", news, "a=1") == nil && owner("\"2\"", news, "a=2") == nil)
        }

        @Test func `another user's response stands in for no error`() throws {
            let one = try asked(["X-User": "ann"])
            let stored = answer(to: one, [("Cache-Control", "max-age=1, stale-if-error=60")])
            for (user, may) in [("ann", true), ("bob", false)] {
                let other = try asked(["X-User": user])
                #expect(CacheRules.mayReplaceError(500, with: stored, for: other, now: at(9)) == may)
            }
        }

        // MARK: - Programs for one user

        @Test func `a response to one account is for no other, also in a program that acts for one user`() throws {
            let stored = answer(to: try asked(["X-User": "ann", "X-Api-Key": "1"]), options: .servesOneUser)
            let rows = [
                (["X-User": "bob", "X-Api-Key": "1"], true), (["X-Api-Key": "1"], true),
                (["X-User": "ann", "X-Api-Key": "2"], false), (["X-User": "ann"], false),
            ]
            for (fields, isFor) in rows {
                #expect(try stored.partition.admits(asked(fields).identities) == isFor, "\(fields)")
            }
        }

        @Test("an audience is on the disk as it was, and read only by a program that tells users apart so, T-CAC-02")
        func audiences() throws {
            let digest = ShortDigest(of: [1])
            let all: [CachePartition.Audience] = [
                .everyone, .only(.unnamed), .only(.named(digest)), .onlyBySecrets(.unnamed),
                .onlyBySecrets(.named(digest)),
            ]
            // Former processes wrote these.
            #expect(all.map { $0.storedBytes.first } == [0, 1, 2, 3, 4])
            for option in [[], .guessesLifetimes, .servesOneUser] as [CacheOptions] {
                let read = all.map { CachePartition.Audience(stored: $0.storedBytes, options: option) }
                #expect(read == (option == .servesOneUser ? all : Array(all[..<3]) + [nil, nil]))
            }
            for wrong in [
                [], [2], [4], [5], [255], [2, 1], [0] + digest.bytes, [1] + digest.bytes, [3] + digest.bytes,
            ] {
                #expect(CachePartition.Audience(stored: wrong, options: .servesOneUser) == nil, "\(wrong)")
            }
        }

        // MARK: - Whether it answers, and where it is kept

        @Test func `a response that is not HTTP's answers no task`() throws {
            let one = try asked()
            for status in [0, 1, 200] {
                let stored = answer(to: one, status: status)
                let found = CacheRules.select(from: [stored], head: { $0 }, for: one, under: .clear, decodes: false)
                #expect((found != nil) == (status > 0))
            }
        }

        @Test func `no lifetime is guessed unless the program wants that`() throws {
            let one = try asked()
            for options in [[], .guessesLifetimes] as [CacheOptions] {
                let stored = answer(to: one, [("Last-Modified", date(-1000))], options: options)
                #expect(CacheRules.lifetime(of: stored) == (options == [] ? 0 : 100))
                let plan = CacheRules.plan(one, policy: .useProtocolCachePolicy, stored: stored, now: at(1))
                #expect((plan == .serve) == (options == .guessesLifetimes))
            }
        }

        @Test func `a URL with a secret in a field keeps the response in memory`() throws {
            let one = try asked()
            let rows: [(String, CacheRules.Storage)] = [
                ("<http://a.test/?access_token=1>", .inMemory), ("<http://a.test/?page=1>", .anywhere),
            ]
            for (value, place) in rows {
                for fields in [[("Link", value), ("X-After", "1")], [("X-Before", "1"), ("Link", value)]] {
                    let stored = answer(to: one, fields + [("Cache-Control", "max-age=9")])
                    #expect(CacheRules.mayStore(stored, for: one) == place, "\(fields)")
                }
            }
            let lasting = CacheRules.lastingFields(headers([("Set-Cookie", "a"), ("ETag", "\"1\""), ("X-Token", "t")]))
            #expect(lasting == headers([("ETag", "\"1\"")]))
        }

        @Test func `a response that is never fresh goes to the disk if it may stand in for a later one`() throws {
            let one = try asked()
            let rows: [(String, CacheRules.Storage)] = [
                ("max-age=0", .inMemory), ("max-age=0, stale-if-error=0", .inMemory),
                ("max-age=0, stale-while-revalidate=0", .inMemory), ("max-age=0, stale-if-error=1", .anywhere),
                ("max-age=0, stale-while-revalidate=1", .anywhere),
            ]
            for (control, place) in rows {
                #expect(CacheRules.mayKeep(answer(to: one, [("Cache-Control", control)])) == place, "\(control)")
            }
            // One that depends on more than its fields is not kept, whatever else it lacks.
            #expect(CacheRules.mayKeep(answer(to: one, [("Vary", "*")])) == .no)
            #expect(CacheRules.mayKeep(answer(to: one, [("Vary", "Accept")])) == .inMemory)
        }

        // MARK: - Fields

        @Test func `each field that decides has a fact of its own`() {
            let facts: [(String, ResponseFacts)] = [
                ("Cache-Control", .cacheControl), ("Expires", .expires), ("Last-Modified", .lastModified),
                ("ETag", .entityTag), ("Vary", .vary), ("Set-Cookie", .setCookie), ("Content-Range", .contentRange),
                ("Content-Encoding", .contentEncoding), ("Connection", .connection),
            ]
            for (name, fact) in facts {
                #expect(ResponseFacts(of: headers([("X-Other", "1"), (name, "x")])) == fact, "\(name)")
            }
            let bits = facts.map(\.1.rawValue)
            #expect(bits.allSatisfy { $0.nonzeroBitCount == 1 } && Set(bits).count == bits.count)
        }

        @Test func `the fields of a connection are no part of a stored response`() throws {
            let connection = [("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5")]
            let useful = answer(to: try asked(), [("ETag", "\"1\"")] + connection)
            #expect(useful.headers == headers([("ETag", "\"1\"")]) && useful.headerSize == useful.headers.byteCount)
            // One that says nothing keeps them until it is looked at.
            let inert = answer(to: try asked(), [("X-Own", "1")] + connection)
            #expect(inert.headers == headers([("X-Own", "1")]))
            #expect(inert.headerSize == headers([("X-Own", "1")] + connection).byteCount)
        }

        @Test func `what a 304 calls a field of its connection stays as it was stored`() throws {
            let one = try asked()
            let merged = CacheRules.merge(
                answer(to: one, [("ETag", "\"1\""), ("X-Hop", "0")]),
                with: headers([("Connection", "X-Hop"), ("X-Hop", "1")]),
                for: one,
                requestTime: at(1),
                responseTime: at(2)
            )
            guard case .confirmed(let head) = merged else { throw CancellationError() }
            #expect(head.headers == headers([("ETag", "\"1\""), ("X-Hop", "0")]))
        }
    }
}
