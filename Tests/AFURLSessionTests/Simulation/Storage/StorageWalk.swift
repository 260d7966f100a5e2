@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// What is kept on a disk, while everything happens to that disk that can: one seed, one store, and a power cut.
final class StorageWalk {
    let faults: Faults
    private var random: SeededGenerator
    private let disk: VirtualDisk
    private(set) var violations: [String] = []
    /// What was done, for a trace.
    private(set) var notes: [String] = []

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed ^ 0xD15C)
        faults = Faults(random: random.fork(1))
        disk = try VirtualDisk(faults: faults)
        let points = FaultPoint.allCases.filter { $0.name.hasPrefix("disk.") }
        faults.arm(points, share: random.pick([0, 15, 40]))
        // Few walks read a response that was last marked as used a minute ago.
        self.random = random
    }

    func run() -> [String] {
        disk.mount()
        if random.chance(70) { disk.cutPower(atCall: random.pick(1...random.pick([20, 100, 400]))) }
        let left: () -> Void = random.chance(50) ? keepCookies() : keepResponses()
        faults.disarm()
        disk.unmount()
        left()
        return violations
    }

    private func note(_ text: @autoclosure () -> String) { notes.append(text()) }

    /// Where the next process finds what this one has left.
    private var afterwards: VirtualDisk { disk.survivors ?? disk }

    // MARK: - Cookies

    /// Whatever happens, the next process finds what was last saved, or what the store tried to save after that.
    private func keepCookies() -> () -> Void {
        let store = CookieFileStore(path: disk.file("cookies").path)
        var possible: [[StoredCookie]] = [[]]
        for step in 0..<random.pick(1...12) {
            let cookies = (1..<random.pick(1...30)).map { cookie($0, "\(step) \($0)") }
            do {
                try store.write(cookies)
                if disk.survivors == nil { possible = [cookies] } else { possible.append(cookies) }
                note("saved \(cookies.count) of step \(step)")
            } catch {
                possible.append(cookies)
                note("step \(step) failed: \(error)")
            }
            if random.chance(30), let found = try? store.read(), !possible.contains(found) {
                violations.append("cookies: \(found.count) that the store never saved, in step \(step)")
            }
        }
        return { [self] in
            do {
                let found = try CookieFileStore(path: afterwards.file("cookies").path).read()
                if !possible.contains(found) {
                    violations.append("cookies: \(found.count) that were not saved last, of \(possible.map(\.count))")
                }
            } catch {
                violations.append("cookies: the next process cannot read them: \(error)")
            }
        }
    }

    private func cookie(_ number: Int, _ value: String) -> StoredCookie {
        let content = CookieContent(
            name: Array("c\(number)".utf8),
            value: Array(value.utf8),
            domain: "example.com",
            isHostOnly: false,
            path: Array("/".utf8),
            expires: 5_000_000_000
        )
        return StoredCookie(content: content, created: 12, order: UInt64(number), lastUse: UInt64(number))
    }

    // MARK: - Responses

    /// A response is found as it was stored, or not at all; with a disk that did all it was told to, never an old one.
    private func keepResponses() -> () -> Void {
        let clocks = CacheClocks()
        func open(_ disk: VirtualDisk) -> CacheStore {
            CacheScene.store(in: disk.path, memory: random.pick([0, 30_000]), disk: 60_000, clocks)
        }
        var store = open(disk)
        var latest: [String: String] = [:]
        var ever: [String: Set<String>] = [:]

        func check(_ store: CacheStore, _ url: String, mayBeOld: Bool, _ step: String) {
            guard let found = try? CacheScene.get(url, from: store), found != latest[url] else { return }
            if !mayBeOld || ever[url]?.contains(found) != true {
                violations.append("cache: \(found.prefix(20)) of \(url) is not what was stored, \(step)")
            }
        }

        var hasRestarted = false
        for step in 0..<random.pick(5...60) {
            let url = "http://a.test/\(random.pick(0...8))"
            switch random.pick(0...24) {
            case 0..<8:
                let body = "\(step) " + String(repeating: "x", count: random.pick(0...random.pick([100, 3000])))
                guard let entry = try? CacheScene.entry(url, body) else { continue }
                store.insert(entry)
                if random.chance(70) { store.catchUp() }
                latest[url] = body
                ever[url, default: []].insert(body)
                note("\(step): stored \(body.count) for \(url)")
            case 8..<15: check(store, url, mayBeOld: hasRestarted && disk.failures > 0, "step \(step)")
            case 15..<17:
                if let key = try? CacheTests.request(url).key { store.forget(key) }
                latest[url] = nil
                note("\(step): removed \(url)")
            case 17:
                store.catchUp()
                store = open(disk)
                hasRestarted = true
                note("\(step): opened again")
            case 18..<24: clocks.advance(by: Int64(random.pick([1, 61, 4000])))
            default: store.setDiskCapacity(20_000 + random.pick(0...40_000))
            }
        }
        store.catchUp()
        return { [self] in
            let next = CacheScene.store(in: afterwards.path, memory: 0, disk: 60_000, clocks)
            let mayBeOld = disk.failures > 0 || disk.survivors != nil
            for number in 0...8 { check(next, "http://a.test/\(number)", mayBeOld: mayBeOld, "in the next process") }
            next.catchUp()
            if !next.isConsistent() { violations.append("cache: the index is not what is on the disk") }
        }
    }
}
