import AFBase
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Answers that are kept.
    static let cache = Caching.served + Caching.replaced + Caching.removed
}

enum Caching {
    private static let fresh = ["Cache-Control": "max-age=600"]

    static let served: [Scenario] = [
        Scenario(.cache, "fresh-in-memory") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            let session = scene.session()
            await scene.load(in: session)
            await scene.load(in: session)
            scene.demandVisits(1)
        },
        Scenario(.cache, "fresh-on-disk") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            await scene.load(in: scene.session())
            await scene.reopen()
            await scene.load(in: scene.session())
            scene.demandVisits(1)
        },
        // The stage looks for secrets in its files.
        Scenario(.cache, "with-credentials") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            let token = "Bearer \(stage.secret("token", for: scene.server))"
            let request = URLRequest("GET", scene.url, ["Authorization": token])
            for _ in 1...2 {
                await stage.load(request, in: scene.session())
                await scene.reopen()
            }
        },
        Scenario(.cache, "confirmed-by-its-tag") { stage in
            let scene = try CacheScene(on: stage) { _ in
                ServerReply.text("version 1").header("ETag", "\"1\"").header("Cache-Control", "max-age=0")
            }
            await scene.load(in: scene.session())
            await scene.reopen()
            await scene.load(in: scene.session())
            guard stage.point == nil else { return }
            stage.demand(scene.server.requests.last?.headers["If-None-Match"] == "\"1\"", "nothing was asked")
        },
        Scenario(.cache, "of-each-language") { stage in
            let scene = try CacheScene(on: stage) { _ in ServerReply.text("never") }
            scene.server.route("GET", "/page") { request in
                ServerReply.kept(request.headers["Accept-Language"] ?? "").header("Vary", "Accept-Language")
            }
            for _ in 1...2 {
                let session = scene.session()
                for language in ["de", "en"] {
                    let request = URLRequest("GET", scene.url, ["Accept-Language": language])
                    await stage.load(request, in: session, expecting: language)
                }
                await scene.reopen()
            }
            stage.demand(stage.point != nil || scene.server.requests.count == 2, "they were asked for again")
        },
        // The second needs no server, which a program may rely on, but for the fault.
        Scenario(.cache, "nothing-but-what-is-kept", mayFail: 2) { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            await scene.load(in: scene.session())
            await scene.reopen()
            await stage.step("without a server", orCodes: [-1008]) {
                var request = URLRequest(url: scene.url)
                request.cachePolicy = .returnCacheDataDontLoad
                let (data, _) = try await scene.session().data(for: request)
                stage.demand(data == Data("version 1".utf8), "another answer")
            }
            stage.demand(scene.visits <= 1, "the server was asked")
        },
        Scenario(.cache, "kept-by-hand") { stage in
            let scene = try CacheScene(on: stage) { _ in .text("never") }
            let request = URLRequest(url: scene.url)
            let response = HTTPURLResponse(
                url: scene.url,
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: fresh
            )
            guard let response else { return stage.find("no response") }
            for text in ["one", "two"] {
                let kept = CachedURLResponse(response: response, data: Data(text.utf8))
                scene.cache.storeCachedResponse(kept, for: request)
                stage.demand(scene.cache.cachedResponse(for: request)?.data == kept.data, "it is not there at once")
            }
            await scene.reopen()
            let found = scene.cache.cachedResponse(for: request)?.data
            stage.demand(found == nil || found == Data("two".utf8), "what was replaced is back")
            stage.demand(found != nil || stage.point != nil, "nothing was kept")
        },
    ]

    static let replaced: [Scenario] = [
        Scenario(.cache, "changed-behind-its-tag") { stage in
            let scene = try CacheScene(on: stage) { visit in
                ServerReply.text("version \(visit)").header("ETag", "\"\(visit)\"")
                    .header("Cache-Control", visit == 1 ? "max-age=0" : "max-age=600")
            }
            await scene.load(in: scene.session())
            // It is not fresh, so the server has to be asked.
            scene.outdate()
            await scene.reopen()
            await scene.load(in: scene.session())
            await scene.reopen()
            await scene.load(in: scene.session())
            scene.demandVisits(2)
        },
        Scenario(.cache, "reloaded") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            scene.server.route("GET", "/other", .kept("other"))
            let session = scene.session()
            await scene.load(in: session)
            // What spoils the disk for one answer must not bring back what another has replaced.
            await stage.load(scene.server.url("/other"), in: session, expecting: "other")
            await scene.load(in: session, isReload: true)
            await scene.reopen()
            await scene.load(in: scene.session())
            scene.demandVisits(2)
        },
        Scenario(.cache, "not-to-be-kept-any-more") { stage in
            let secret = "CANARY-no-store"
            let isSecret = Lock(false)
            let scene = try CacheScene(on: stage) { visit in
                guard isSecret.withLock({ $0 }) else { return .kept("version \(visit)") }
                return ServerReply.text(secret).header("Cache-Control", "no-store")
            }
            let session = scene.session()
            await scene.load(in: session)
            isSecret.withLock { $0 = true }
            var request = URLRequest(url: scene.url)
            request.cachePolicy = .reloadIgnoringLocalCacheData
            let answer = await stage.load(request, in: session, expecting: secret)
            await scene.reopen()
            for file in scene.files { stage.demand(file.range(of: Data(secret.utf8)) == nil, "it is on disk") }
            if answer != nil { await stage.load(scene.url, in: scene.session(), expecting: secret) }
        },
    ]

    static let removed: [Scenario] = [
        Scenario(.cache, "outdated-by-a-post") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            scene.server.route("POST", "/page", .text("taken"))
            let session = scene.session()
            await scene.load(in: session)
            if await stage.load(URLRequest("POST", scene.url, body: Data("x".utf8)), in: session) != nil {
                scene.outdate()
            }
            await scene.reopen()
            await scene.load(in: scene.session())
        },
        Scenario(.cache, "cleared") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            await scene.load(in: scene.session())
            scene.cache.removeAllCachedResponses()
            stage.demand(scene.cache.currentMemoryUsage == 0, "something is left in memory")
            await scene.reopen()
            stage.demand(scene.cache.cachedResponse(for: URLRequest(url: scene.url)) == nil, "it is back")
            stage.demand(scene.files.allSatisfy(\.isEmpty), "something is left on disk")
        },
        Scenario(.cache, "one-of-two-removed-and-room-taken") { stage in
            let scene = try CacheScene(on: stage) { .kept("version \($0)") }
            scene.server.route("GET", "/other", .kept("other"))
            let session = scene.session()
            let other = URLRequest(url: scene.server.url("/other"))
            await scene.load(in: session)
            await stage.load(other, in: session, expecting: "other")
            scene.cache.removeCachedResponse(for: URLRequest(url: scene.url))
            await scene.reopen()
            stage.demand(scene.cache.cachedResponse(for: URLRequest(url: scene.url)) == nil, "it is back")
            let kept = scene.cache.cachedResponse(for: other)?.data
            stage.demand(kept == nil || kept == Data("other".utf8), "another answer")
            stage.demand(kept != nil || stage.point != nil, "the other one is gone")
            scene.cache.diskCapacity = 100
            stage.demand(scene.cache.currentDiskUsage <= 100, "more on disk than there is room for")
        },
    ]
}
