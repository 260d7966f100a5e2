import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Managers leave nothing behind.
@Suite struct ManagerLifeTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite()
    }

    /// An object that handlers retain.
    private final class Held: Sendable {
        private let alive: Counter

        init(_ alive: Counter) {
            self.alive = alive
            alive.add(1)
        }

        deinit {
            alive.add(-1)
        }
    }

    private final class Counter: @unchecked Sendable {
        private let lock = NSLock()
        private var number = 0

        func add(_ change: Int) { lock.withLock { number += change } }

        var value: Int { lock.withLock { number } }
    }

    /// Not made by the site, which retains its managers.
    private var freeManager: HTTPSessionManager {
        HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: site.configuration)
    }

    @Test func `tasks, their handlers and their managers are released, over ten thousand requests`() async throws {
        let alive = Counter()
        let heard = Heard<Bool>()
        weak var forgotten: HTTPSessionManager?
        weak var session: URLSession?
        do {
            let manager = freeManager
            manager.completionQueue = .global()
            manager.responseSerializer = HTTPResponseSerializer()
            (forgotten, session) = (manager, manager.session)
            for round in 1...100 {
                for number in 0..<100 {
                    let held = Held(alive)
                    let task = manager.dataTask(
                        with: site.request("/bytes/10"),
                        uploadProgress: { _ in _ = held },
                        downloadProgress: { _ in _ = held },
                        completionHandler: { _, _, _ in
                            _ = held
                            heard.say(true)
                        }
                    )
                    if number.isMultiple(of: 10) { _ = manager.downloadProgress(for: task) }
                    task.resume()
                    if number.isMultiple(of: 7) { task.cancel() }
                }
                try await heard.wait(for: 100 * round)
            }
            try await settle { alive.value == 0 }
            #expect(alive.value == 0)
            manager.invalidateSessionCancelingTasks(false, resetSession: false)
        }
        try await settle { forgotten == nil && session == nil }
        #expect(forgotten == nil && session == nil)
    }

    @Test func `managers are released whose verbs were awaited`() async throws {
        site.server.route("GET", "/small", .json("[1]"))
        site.server.route("GET", "/long", .json("[\(String(repeating: "1, ", count: 2000))1]"))
        weak var forgotten: HTTPSessionManager?
        weak var session: URLSession?
        do {
            let manager = freeManager
            (forgotten, session) = (manager, manager.session)
            for _ in 0..<20 {
                #expect(try await manager.get("small", decode: [Int].self) == [1])
                #expect(try await (manager.get("long").object as? [Int])?.count == 2001)
                await #expect(throws: RequestFailure.self) { try await manager.get("nowhere") }
            }
            manager.invalidateSessionCancelingTasks(false, resetSession: false)
        }
        try await settle { forgotten == nil && session == nil }
        #expect(forgotten == nil && session == nil)
    }

    @Test func `tasks that are never resumed are held until the session of the manager ends`() async throws {
        let alive = Counter()
        let heard = Heard<Bool>()
        let manager = site.manager
        for _ in 0..<10_000 {
            let held = Held(alive)
            _ = manager.dataTask(
                withHTTPMethod: "GET",
                urlString: "get",
                parameters: nil,
                headers: nil,
                uploadProgress: nil,
                downloadProgress: nil,
                success: { _, _ in _ = held },
                failure: { _, _ in
                    _ = held
                    heard.say(true)
                }
            )
        }
        #expect(alive.value == 10_000)

        manager.invalidateSessionCancelingTasks(true, resetSession: false)

        try await heard.wait(for: 10_000)
        try await settle { alive.value == 0 }
        #expect(alive.value == 0)
    }

    /// Waits until the last block that retains an object is released.
    private func settle(_ isMet: () -> Bool) async throws {
        for _ in 0..<6000 where !isMet() { try await Task.sleep(for: .milliseconds(10)) }
    }
}
