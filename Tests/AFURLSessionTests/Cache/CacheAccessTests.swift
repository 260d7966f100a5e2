import AFWire

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

extension CacheTests {
    struct Access {
        private let fresh = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]
        private let scene = CacheAccessScene()

        private func isNetwork(_ finding: CacheFinding) -> Bool {
            if case .network = finding { true } else { false }
        }

        @Test("a stored response answers the next task byte for byte, T-CAC-29")
        func hit() throws {
            let question = scene.question(try frozen())
            let fields = [("Content-Encoding", "gzip"), ("Content-Length", "9"), ("Content-Type", "text/plain")]
            try scene.store("the content", fields + fresh, for: question)
            guard case .serve(let hit) = try scene.lookUp(question) else { throw CancellationError() }

            #expect(hit.body == Data("the content".utf8) && hit.isDecoded)
            #expect(hit.response.statusCode == 200 && hit.response.mimeType == "text/plain")
            #expect(hit.response.expectedContentLength == -1)
            #expect(hit.response.headers == headers(fields + fresh))
            #expect(hit.response.url?.absoluteString == "http://a.test/page")
            // Who wants the coding kept must not get it without, nor the other way round.
            #expect(isNetwork(try scene.lookUp(scene.question(try frozen(), decodes: false))))
            try scene.store(
                "gzipped",
                fields + fresh,
                for: scene.question(try frozen(), decodes: false),
                isDecoded: false
            )
            #expect(try scene.body(scene.question(try frozen(), decodes: false)) == "gzipped")
            #expect(try scene.body(question) == "the content")
        }

        @Test("a request is not answered with a response to other credentials, T-CAC-02")
        func credentials() throws {
            let scratch = try CacheScene()
            let scene = CacheAccessScene(URLCache(store: scratch.store))
            let one = scene.question(try frozen("http://a.test/page", ["Authorization": "Basic canary1"]))
            let other = scene.question(try frozen("http://a.test/page", ["Authorization": "Basic canary2"]))
            let plain = scene.question(try frozen())
            try scene.store("of one", fresh + [("Vary", "Accept")], for: one)

            #expect(try scene.body(one) == "of one")
            #expect(isNetwork(try scene.lookUp(other)))
            #expect(isNetwork(try scene.lookUp(plain)))
            try scene.store("of all", fresh, for: plain)
            #expect(isNetwork(try scene.lookUp(other)))
            #expect(try scene.body(one) == "of one" && scene.body(plain) == "of all")
            scratch.store.catchUp()
            #expect(scratch.files.count == 1)
        }

        @Test("no secret of a request is ever on disk, T-CAC-26")
        func secrets() throws {
            let scratch = try CacheScene()
            let scene = CacheAccessScene(URLCache(store: scratch.store))
            let fields = [
                "Authorization": "Bearer canary", "Cookie": "a=canary", "X-Api-Key": "canary",
                "Accept-Language": "canary",
            ]
            for (name, value) in fields {
                let question = scene.question(try frozen("http://u:canary@a.test/\(name)", [name: value]))
                try scene.store("body", fresh + [("Vary", name)], for: question)
                try scene.store(
                    "body",
                    fresh,
                    for: scene.question(try frozen("http://a.test/plain/\(name)", [name: value]))
                )
            }
            try scene.store(
                "canary",
                [("Cache-Control", "no-store"), ("ETag", "\"1\"")],
                for: scene.question(try frozen())
            )
            scratch.store.catchUp()

            #expect(scratch.files.count > 0)
            for name in scratch.files {
                let file = try Data(contentsOf: scratch.folder.appendingPathComponent(name))
                #expect(file.range(of: Data("canary".utf8)) == nil)
            }
        }

        @Test func `five thousand responses that no later request may use by itself write nothing`() throws {
            let disk = try CacheScene()
            let scene = CacheAccessScene(URLCache(store: disk.store), on: disk)
            let fields = headers([
                ("Content-Type", "text/plain"), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Connection", "keep-alive"),
            ])
            let questions = try (0..<5000).map { scene.question(try frozen("http://a.test/\($0)")) }
            try scene.onLoop { access in
                for question in questions {
                    let writer = access.beginStore(
                        200,
                        version: .http11,
                        headers: fields,
                        for: question,
                        sent: access.moment(),
                        ticket: access.ticket,
                        isDecoded: true
                    )
                    Array("body".utf8).withUnsafeBytes { writer?.append($0) }
                    writer?.finish()
                }
            }
            disk.store.catchUp()
            #expect(disk.files.isEmpty)
            // Those that came last are there for requests that accept any age, and leave room for what is of more use.
            let any = scene.question(try frozen("http://a.test/4999"), policy: .returnCacheDataElseLoad)
            guard case .serve(let hit) = try scene.lookUp(any) else { throw CancellationError() }
            #expect(hit.response.value(forHTTPHeaderField: "Connection") == nil && hit.body == Data("body".utf8))
            #expect(disk.store.memoryUsage <= (1 << 20) / 8)
        }

        @Test("a response of a server that one set of rules trusted is not seen by others, T-CAC-28")
        func trust() throws {
            func question(_ scope: TrustScope) throws -> CacheQuestion {
                scene.question(try frozen("https://a.test/page"), under: scope)
            }
            let endpoint = try RequestURL("https://a.test/").endpoint
            func context(_ id: Int, _ fingerprint: [UInt8]) -> SecurityContext {
                SecurityContext(
                    id: id,
                    configuration: TLSConfiguration(),
                    evaluator: nil,
                    fingerprint: fingerprint,
                    sessionsPerPeer: 1
                )
            }
            let configuration = URLSessionConfiguration.ephemeral
            let scopes = SessionScopes(configuration.settings)
            configuration.unixDomainSocketPath = "/s"
            let through = SessionScopes(configuration.settings)
            let all = [
                scopes.scope(of: endpoint, under: context(1, [1]), word: .none, isProven: false),
                scopes.scope(of: endpoint, under: context(2, [2]), word: .none, isProven: false),
                scopes.scope(of: endpoint, under: context(1, [1]), word: .delegate(nil), isProven: false),
                through.scope(of: endpoint, under: context(1, [1]), word: .none, isProven: false),
                scopes.scope(of: endpoint, under: nil, word: .none, isProven: false),
            ]
            #expect(Set(all).count == 5)
            #expect(all.map(\.isLasting) == [true, true, false, true, false])
            for scope in all {
                try scene.store("x", fresh, for: question(scope))
                for other in all {
                    #expect(try scene.body(question(other)) == (other == scope ? "x" : nil))
                }
                scene.cache.removeAllCachedResponses()
            }
        }

        @Test("only a complete body is stored, wherever it is cut, T-CAC-12")
        func incomplete() throws {
            let question = scene.question(try frozen())
            let (body, fields) = (Array("complete".utf8), fresh)
            for count in 0...body.count {
                try scene.onLoop { access in
                    let writer = access.beginStore(
                        200,
                        version: .http11,
                        headers: headers(fields),
                        for: question,
                        sent: access.moment(),
                        ticket: access.ticket,
                        isDecoded: true
                    )
                    for byte in body[..<count] { [byte].withUnsafeBytes { writer?.append($0) } }
                    // Cancelled, cut short or not to be decoded: the writer is never told that the body is complete.
                }
                #expect(isNetwork(try scene.lookUp(question)))
            }
            try scene.store("part", fresh + [("Content-Range", "bytes 0-3/8")], for: question, status: 206)
            #expect(isNetwork(try scene.lookUp(question)))
            #expect(scene.cache.currentMemoryUsage == 0)
        }

        @Test("a body that is too long is let go of, and what it replaces as well, T-CAC-21, T-CAC-11")
        func tooLong() throws {
            let scene = CacheAccessScene(
                URLCache(store: CacheScene.store(in: nil, memory: 40_000, disk: 0, CacheClocks()))
            )
            let question = scene.question(try frozen())
            try scene.store("short", fresh, for: question)
            try scene.store(String(repeating: "x", count: 2000), fresh, for: question)
            #expect(isNetwork(try scene.lookUp(question)))
            let fields = fresh
            let isStoring = try scene.onLoop { access in
                access.beginStore(
                    200,
                    version: .http11,
                    headers: headers(fields),
                    for: question,
                    sent: access.moment(),
                    ticket: access.ticket,
                    announced: 999_999_999_999,
                    isDecoded: true
                )?
                .isStoring
            }
            #expect(isStoring == false)
        }

        @Test("a 200 always replaces, also one that is not stored, T-CAC-11")
        func replacement() throws {
            let question = scene.question(try frozen())
            try scene.store("old", fresh, for: question)
            try scene.store("new", fresh, for: question)
            #expect(try scene.body(question) == "new")
            let offline = scene.question(try frozen(), policy: .returnCacheDataDontLoad)
            for (fields, kept) in [
                ([("Cache-Control", "no-store")], nil), ([], "new"), ([("Vary", "*"), ("ETag", "\"1\"")], nil),
            ] {
                try scene.store("old", fresh, for: question)
                try scene.store("new", fields, for: question)
                #expect(isNetwork(try scene.lookUp(question)))
                #expect(try scene.body(offline) == kept)
            }
            for (status, fields) in [206, 401, 429].map({ ($0, fresh) }) + [500, 503, 400].map({ ($0, []) }) {
                try scene.store("old", fresh, for: question)
                try scene.store("error", fields, for: question, status: status)
                #expect(try scene.body(question) == "old")
            }
            for status in [400, 500, 503, 999] {
                try scene.store("old", fresh, for: question)
                try scene.store("lasting", fresh, for: question, status: status)
                #expect(try scene.body(question) == "lasting")
            }
        }

        @Test("a 304 renews what is stored, for all later tasks, T-CAC-08")
        func confirmation() throws {
            let disk = try CacheScene()
            let scene = CacheAccessScene(URLCache(store: disk.store))
            let question = scene.question(try frozen())
            try scene.store(
                "body",
                [("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("Content-Length", "4")],
                for: question
            )
            scene.clocks.advance(by: 20)
            scene.virtual.advance(by: .seconds(20))
            guard case .validate(let hit, let fields) = try scene.lookUp(question) else { throw CancellationError() }
            #expect(fields == headers([("If-None-Match", "\"1\"")]))
            let body = try scene.onLoop { access -> Data? in
                let news = headers([("Cache-Control", "max-age=100"), ("ETag", "\"1\""), ("Content-Length", "0")])
                guard case .serve(let renewed) = access.confirm(hit, headers: news, sent: access.moment()) else {
                    return nil
                }
                #expect(renewed.response.statusCode == 200)
                #expect(renewed.response.value(forHTTPHeaderField: "Content-Length") == "4")
                return renewed.body
            }
            #expect(body == Data("body".utf8))
            #expect(try scene.body(question) == "body")
            #expect(disk.files.count == 1 && disk.store.isConsistent())
        }

        @Test("a reader from the disk keeps a whole body while a 304 renews it, as later readers do, T-CAC-08")
        func confirmationBesideReaders() throws {
            let disk = try CacheScene(memory: 0)
            let scene = CacheAccessScene(URLCache(store: disk.store))
            let question = scene.question(try frozen())
            let content = String(repeating: "b", count: 100_000)
            try scene.store(content, [("Cache-Control", "max-age=10"), ("ETag", "\"1\"")], for: question)
            for round in 1...3 {
                scene.clocks.advance(by: 20)
                scene.virtual.advance(by: .seconds(20))
                guard case .validate(let reader, _) = try scene.lookUp(question),
                    case .validate(let hit, _) = try scene.lookUp(question)
                else { throw CancellationError() }

                try scene.onLoop { access in
                    let news = headers([("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("X-Round", "\(round)")])
                    guard case .serve = access.confirm(hit, headers: news, sent: access.moment()) else {
                        throw CancellationError()
                    }
                }
                disk.store.catchUp()

                #expect(reader.body == Data(content.utf8), "round \(round)")
                #expect(try scene.body(question) == content)
            }
            #expect(disk.store.isConsistent())
        }

        @Test("a 304 that means something else has the task ask again, and the entry go, T-CAC-09")
        func mismatch() throws {
            let question = scene.question(try frozen(), policy: .reloadRevalidatingCacheData)
            try scene.store("body", fresh, for: question)
            guard case .validate(let hit, _) = try scene.lookUp(question) else { throw CancellationError() }
            let asks = try scene.onLoop { access in
                guard case .ask = access.confirm(hit, headers: headers([("ETag", "\"2\"")]), sent: access.moment())
                else {
                    return false
                }
                return true
            }
            #expect(asks && scene.cache.currentMemoryUsage == 0)
        }

        @Test("an entry that was removed while it was validated is not brought back, T-CAC-19, T-CAC-34")
        func removedMeanwhile() throws {
            let question = scene.question(try frozen(), policy: .reloadRevalidatingCacheData)
            try scene.store("body", fresh, for: question)
            guard case .validate(let hit, _) = try scene.lookUp(question) else { throw CancellationError() }
            let loop = scene.virtual.loop
            let writer = try scene.onLoop { [fresh] access in
                let made = access.beginStore(
                    200,
                    version: .http11,
                    headers: headers(fresh),
                    for: question,
                    sent: access.moment(),
                    ticket: access.ticket,
                    isDecoded: true
                )
                return LoopBound(confined: made, on: loop)
            }
            scene.cache.removeAllCachedResponses()
            try scene.onLoop { [fresh] access in
                guard case .serve(let hit) = access.confirm(hit, headers: headers(fresh), sent: access.moment()) else {
                    throw CancellationError()
                }
                #expect(hit.body == Data("body".utf8))
                writer.value?.finish()
            }
            #expect(scene.cache.currentMemoryUsage == 0)
        }

        @Test("an unsafe request that succeeds outdates what is stored, T-CAC-14")
        func invalidation() throws {
            for (method, status, isGone) in [
                ("POST", 200, true), ("PUT", 500, false), ("DELETE", 204, true), ("OPTIONS", 200, false),
            ] {
                let question = scene.question(try frozen())
                try scene.store("body", fresh, for: question)
                let change = try frozen("http://a.test/page", method: method)
                try scene.onLoop { $0.note(status, headers: HTTPHeaders(), to: change) }
                #expect(isNetwork(try scene.lookUp(question)) == isGone)
            }
        }

        @Test("tasks that miss at the same time each ask the server, T-CAC-30")
        func noCoalescing() throws {
            let question = scene.question(try frozen())
            let fields = fresh
            try scene.onLoop { access in
                let first = access.beginStore(
                    200,
                    version: .http11,
                    headers: headers(fields),
                    for: question,
                    sent: access.moment(),
                    ticket: access.ticket,
                    isDecoded: true
                )
                access.lookUp(question) { finding in
                    guard case .network = finding else {
                        Issue.record("a task waits for another")
                        return
                    }
                }
                let second = access.beginStore(
                    200,
                    version: .http11,
                    headers: headers(fields),
                    for: question,
                    sent: access.moment(),
                    ticket: access.ticket,
                    isDecoded: true
                )
                Array("second".utf8).withUnsafeBytes { second?.append($0) }
                second?.finish()
                withExtendedLifetime(first) {}
            }
            #expect(try scene.body(question) == "second")
        }

        @Test("only the cache may answer and cannot, so the task fails")
        func onlyCached() throws {
            let findings = [
                try scene.lookUp(scene.question(try frozen(), policy: .returnCacheDataDontLoad)),
                try scene.lookUp(scene.question(try frozen("http://a.test/", ["cache-control": "ONLY-if-cached"]))),
                try scene.lookUp(scene.question(try frozen(method: "POST"), policy: .returnCacheDataDontLoad)),
            ]
            for finding in findings {
                guard case .fail = finding else {
                    Issue.record("\(finding)")
                    continue
                }
            }
        }

        /// Looks at a page that only the disk has, which takes `duration` for all it does.
        private func lookUp(
            _ policy: URLRequest.CachePolicy,
            onDiskThatTakes duration: Duration
        ) throws -> (scene: CacheAccessScene, question: CacheQuestion, findings: Findings) {
            let disk = try CacheScene()
            try CacheAccessScene(URLCache(store: disk.store)).store(
                "body",
                fresh,
                for: CacheAccessScene().question(try frozen())
            )
            disk.store.catchUp()
            let scene = CacheAccessScene(URLCache(store: disk.reopened()), on: disk)
            scene.virtual.workers.take(duration)
            let question = scene.question(try frozen(), policy: policy)
            let findings = Findings()
            let isEarly = try scene.onLoop { access in
                access.lookUp(question) { findings.take($0) }
                return !findings.all.isEmpty
            }
            #expect(!isEarly)
            return (scene, question, findings)
        }

        private final class Findings: Sendable {
            private let taken = Lock<[Character]>([])

            var all: [Character] { taken.withLock { $0 } }

            func take(_ finding: CacheFinding) {
                let letter: Character =
                    switch finding {
                    case .network: "n"
                    case .serve: "s"
                    default: "?"
                    }
                taken.withLock { $0.append(letter) }
            }
        }

        @Test func `a look-up that needs the disk comes back once, in a later turn`() throws {
            let (scene, _, findings) = try lookUp(.useProtocolCachePolicy, onDiskThatTakes: .seconds(4))

            scene.virtual.advance(by: .seconds(2))
            #expect(findings.all == [])
            scene.virtual.advance(by: .seconds(20))
            #expect(findings.all == ["s"])
        }

        @Test func `no load waits for a disk that hangs, until it answers, T-FIL-28`() throws {
            let (scene, question, findings) = try lookUp(.returnCacheDataElseLoad, onDiskThatTakes: .seconds(60))

            scene.virtual.advance(by: .seconds(3))
            #expect(findings.all == [])
            scene.virtual.advance(by: .seconds(3))
            #expect(findings.all == ["n"])
            // The next one does not even wait as long.
            #expect(isNetwork(try scene.lookUp(question)))

            scene.virtual.workers.take(.zero)
            scene.virtual.advance(by: .seconds(60))
            guard case .serve = try scene.lookUp(question) else { throw CancellationError() }
            #expect(findings.all == ["n"] && scene.virtual.loop.armedTimers == 0)
        }

        @Test func `a request for the cache only waits for the disk`() throws {
            let (scene, _, findings) = try lookUp(.returnCacheDataDontLoad, onDiskThatTakes: .seconds(60))

            scene.virtual.advance(by: .seconds(50))
            #expect(findings.all == [])
            scene.virtual.advance(by: .seconds(20))
            #expect(findings.all == ["s"])
        }

        @Test func `a delegate may change what is stored, or refuse`() throws {
            let (question, fields) = (scene.question(try frozen()), fresh)
            let url = try #require(URL(string: "http://a.test/page"))
            func finish(_ change: @escaping @Sendable (CachedURLResponse) -> CachedURLResponse?) throws {
                try scene.onLoop { access in
                    let writer = try #require(
                        access.beginStore(
                            200,
                            version: .http11,
                            headers: headers(fields),
                            for: question,
                            sent: access.moment(),
                            ticket: access.ticket,
                            isDecoded: true
                        )
                    )
                    Array("body".utf8).withUnsafeBytes { writer.append($0) }
                    writer.finish(as: change(try #require(writer.proposal(at: url))))
                }
            }
            try finish { proposal in
                #expect(proposal.data == Data("body".utf8) && proposal.storagePolicy == .allowed)
                return CachedURLResponse(
                    response: proposal.response,
                    data: Data("mine".utf8),
                    userInfo: ["a": 1],
                    storagePolicy: .allowedInMemoryOnly
                )
            }
            #expect(try scene.body(question) == "mine")
            #expect(scene.cache.cachedResponse(for: URLRequest(url: url))?.userInfo?["a"] as? Int == 1)
            try finish { _ in nil }
            #expect(isNetwork(try scene.lookUp(question)))
            try finish { CachedURLResponse(response: $0.response, data: $0.data, storagePolicy: .notAllowed) }
            #expect(isNetwork(try scene.lookUp(question)))
        }

        @Test func `HEAD is answered without a body, and what the program stored is served`() throws {
            let url = try #require(URL(string: "http://a.test/page"))
            let response = try #require(
                HTTPURLResponse(
                    url: url,
                    statusCode: 200,
                    httpVersion: nil,
                    headerFields: ["Cache-Control": "max-age=2000000000"]
                )
            )
            scene.cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("mine".utf8)),
                for: URLRequest(url: url)
            )
            let stored = scene.question(try frozen(), policy: .returnCacheDataElseLoad)
            #expect(try scene.body(stored) == "mine")
            let head = scene.question(try frozen(method: "HEAD"), policy: .returnCacheDataElseLoad)
            #expect(try scene.body(head) == "")
        }

        private final class OwnResponse: HTTPURLResponse, @unchecked Sendable {}

        @Test func `a response that the program stored says its age, unless it is of a class of the program`() throws {
            let url = try #require(URL(string: "http://a.test/page#part"))
            let fields = ["Cache-Control": "max-age=100", "Age": "5", "X": "y"]
            func shown(_ stored: HTTPURLResponse) throws -> HTTPURLResponse {
                let cached = CachedURLResponse(response: stored, data: Data("mine".utf8))
                scene.cache.storeCachedResponse(cached, for: URLRequest(url: url))
                guard case .serve(let hit) = try scene.lookUp(scene.question(try frozen())) else {
                    throw CancellationError()
                }
                let moment = try scene.onLoop { $0.moment() }
                let later = CacheInstant(wall: moment.wall + 9, monotonic: moment.monotonic)
                return hit.unconfirmed(at: later).response
            }

            let stored = try #require(
                HTTPURLResponse(url: url, statusCode: 203, httpVersion: "HTTP/1.0", headerFields: fields)
            )
            let aged = try shown(stored)
            #expect(aged.headers.values("Age") == ["14"] && stored.headers.values("Age") == ["5"])
            #expect(aged.value(forHTTPHeaderField: "X") == "y" && aged.url == url)
            #expect(aged.statusCode == 203 && aged.httpVersion == "HTTP/1.0")
            let own = try #require(OwnResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
            #expect(try shown(own) === own)
        }

        @Test func `a cache that holds nothing and has no room takes no answer, until it has`() throws {
            let virtual = CacheAccessScene()
            let request = try frozen()
            virtual.cache.memoryCapacity = 0
            #expect(try !virtual.onLoop { $0.mayStore(answerTo: request) })
            virtual.cache.memoryCapacity = 1 << 20
            #expect(try virtual.onLoop { $0.mayStore(answerTo: request) })
        }

        @Test func `an access without a cache lets everything pass`() throws {
            let virtual = CacheAccessScene()
            let question = virtual.question(try frozen())
            let world = virtual.world
            let isPassed = try virtual.onLoop { [fresh] _ in
                let access = CacheAccess(cache: nil, in: world)
                var passed = 0
                access.lookUp(question) { if case .network = $0 { passed += 1 } }
                access.note(200, headers: HTTPHeaders(), to: question.request)
                let writer = access.beginStore(
                    200,
                    version: .http11,
                    headers: headers(fresh),
                    for: question,
                    sent: access.moment(),
                    ticket: access.ticket,
                    isDecoded: true
                )
                return passed == 1 && writer == nil
            }
            #expect(isPassed)
        }
    }
}
