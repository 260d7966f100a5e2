import AFWire
import Foundation
import Testing

@testable import AFState

extension CacheTests {
    /// Against models that do the same in the most simple-minded way.
    ///
    /// `AFNET_CACHE_OPERATIONS` sets how many random steps each of them takes.
    struct Models {
        private static let operations = number("AFNET_CACHE_OPERATIONS") ?? 4000

        // MARK: The store

        /// A list, the latest used last.
        private struct Model {
            struct Item {
                let url: String
                let body: String
                let size: Int
            }

            var memory: [Item] = []
            var disk: [String: String] = [:]
            let capacity: Int

            mutating func put(_ item: Item) {
                memory.removeAll { $0.url == item.url }
                if item.size <= capacity / 20 { memory.append(item) }
                while memory.reduce(0, { $0 + $1.size }) > capacity { memory.removeFirst() }
            }

            mutating func get(_ url: String) -> String? {
                guard let index = memory.firstIndex(where: { $0.url == url }) else { return nil }
                memory.append(memory.remove(at: index))
                return memory.last?.body
            }
        }

        @Test("the store in memory does what a list would do, T-CAC-20")
        func memory() throws {
            var random = SeededBytes(seed: 20 &+ ModelSeed.first)
            var model = Model(capacity: 40_000)
            let store = CacheScene.store(in: nil, memory: model.capacity, disk: 0, CacheClocks())
            let requests = try (0..<60).map { try CacheTests.request("http://a.test/\($0)") }
            let heads = requests.map { CacheTests.head([("ETag", "\"1\"")], for: $0) }
            for step in 0..<Models.operations {
                let number = random.number(below: 60)
                switch random.number(below: 20) {
                case 0..<9:
                    let body = "\(step)" + String(repeating: "x", count: random.number(below: 1700))
                    let entry = CacheEntry(head: heads[number], body: Data(body.utf8), mayGoToDisk: true)
                    store.insert(entry)
                    model.put(.init(url: "\(number)", body: body, size: entry.size))
                case 9..<18:
                    var found: String?
                    if case .found(let entry) = store.glance(at: requests[number].key, choose: { $0.first }) {
                        found = String(decoding: entry.body, as: UTF8.self)
                    }
                    #expect(found == model.get("\(number)"), "step \(step)")
                case 18:
                    store.forget(requests[number].key)
                    model.memory.removeAll { $0.url == "\(number)" }
                default:
                    guard random.number(below: 50) == 0 else { continue }
                    store.forgetAll()
                    model.memory = []
                }
                #expect(store.memoryUsage == model.memory.reduce(0) { $0 + $1.size }, "step \(step)")
            }
        }

        @Test("the store on disk has what was put there, or nothing, and counts its files, T-CAC-20")
        func disk() throws {
            var random = SeededBytes(seed: 21 &+ ModelSeed.first)
            let scene = try CacheScene(memory: 30_000, disk: 60_000)
            var store = scene.store
            var model: [String: String] = [:]
            for step in 0..<max(Models.operations / 20, 200) {
                let url = "http://a.test/\(random.number(below: 25))"
                switch random.number(below: 20) {
                case 0..<8:
                    let body = "\(step)" + String(repeating: "x", count: random.number(below: 3000))
                    store.insert(try CacheScene.entry(url, body))
                    if random.number(below: 3) > 0 { store.catchUp() }
                    model[url] = body
                case 8..<16:
                    // It may be gone, and it may not be another one.
                    if let found = try CacheScene.get(url, from: store) { #expect(found == model[url], "step \(step)") }
                case 16..<18:
                    store.forget(try CacheTests.request(url).key)
                    model[url] = nil
                case 18:
                    store.catchUp()
                    store = scene.reopened(memory: 30_000, disk: 60_000)
                default:
                    store.setDiskCapacity(20_000 + random.number(below: 60_000))
                }
                store.catchUp()
                #expect(store.isConsistent(), "step \(step)")
            }
        }

        // MARK: Freshness

        /// What a server and a client said, as numbers.
        private struct Facts {
            var age: Int64?
            var date: Int64?
            var expires: Int64?
            var changed: Int64?
            var maxAge: Int64?
            var revalidate: Int64?
            var mustRevalidate = false
            var noCache = false
            var wantedAge: Int64?
            var wantedFreshness: Int64?
            var toleratedStaleness: Int64?
            var insists = false
            var delay: Int64
            var now: Int64

            init(_ random: inout SeededBytes) {
                func some(_ range: Range<Int>) -> Int64? {
                    random.number(below: 2) == 0 ? nil : Int64(range.lowerBound + random.number(below: range.count))
                }
                age = some(0..<50)
                date = some(-100..<100)
                expires = some(-100..<200)
                changed = some(-2000..<10)
                maxAge = some(0..<100)
                revalidate = some(0..<60)
                mustRevalidate = random.number(below: 5) == 0
                noCache = random.number(below: 8) == 0
                wantedAge = random.number(below: 3) == 0 ? some(0..<100) : nil
                wantedFreshness = random.number(below: 3) == 0 ? some(0..<60) : nil
                toleratedStaleness = random.number(below: 3) == 0 ? some(0..<60) : nil
                insists = random.number(below: 10) == 0
                delay = Int64(random.number(below: 20))
                now = Int64(random.number(below: 250))
            }

            /// RFC 9111 §4.2, word by word.
            var outcome: String {
                let dateValue = date ?? 0
                let apparentAge = max(0, 0 - dateValue)
                let correctedAge = (age ?? 0) + delay
                let currentAge = max(apparentAge, correctedAge) + now
                var lifetime: Int64 = 0
                if let maxAge {
                    lifetime = maxAge
                } else if let expires {
                    lifetime = max(0, expires - dateValue)
                } else if let changed {
                    lifetime = max(0, dateValue - changed) / 10
                }
                if noCache || insists { return "validate" }
                if let wantedAge, wantedAge == 0 || currentAge > wantedAge { return "validate" }
                if lifetime > currentAge, lifetime - currentAge >= (wantedFreshness ?? 0) { return "serve" }
                if mustRevalidate || wantedFreshness != nil { return "validate" }
                if let toleratedStaleness {
                    return currentAge - lifetime <= toleratedStaleness ? "serve" : "validate"
                }
                if wantedAge != nil { return "validate" }
                if let revalidate, currentAge - lifetime <= revalidate { return "serve, validate" }
                return "validate"
            }

            func response(_ random: inout SeededBytes) -> [(String, String)] {
                var directives: [String] = []
                if let maxAge { directives.append("max-age=\(maxAge)") }
                if let revalidate { directives.append("Stale-While-Revalidate=\"\(revalidate)\"") }
                if mustRevalidate { directives.append("must-Revalidate") }
                if noCache { directives.append("no-cache") }
                var fields = [("ETag", "\"1\"")]
                // In one line or in many, in any order.
                if random.number(below: 2) == 0 {
                    fields += directives.map { ("cache-control", $0) }
                } else if !directives.isEmpty {
                    fields.append(("Cache-Control", directives.reversed().joined(separator: " ,\t")))
                }
                if let age { fields.append(("AGE", "\(age)")) }
                if let date { fields.append(("Date", CacheTests.date(date))) }
                if let expires { fields.append(("Expires", CacheTests.date(expires))) }
                if let changed { fields.append(("Last-Modified", CacheTests.date(changed))) }
                return random.number(below: 2) == 0 ? fields : fields.reversed()
            }

            var request: [String: String] {
                var directives: [String] = []
                if let wantedAge { directives.append("max-age=\(wantedAge)") }
                if let wantedFreshness { directives.append("min-fresh=\(wantedFreshness)") }
                if let toleratedStaleness { directives.append("max-stale=\(toleratedStaleness)") }
                if insists { directives.append("no-cache") }
                return directives.isEmpty ? [:] : ["Cache-Control": directives.joined(separator: ",")]
            }
        }

        @Test("decisions are those of the RFC read word by word, T-CAC-06, T-CAC-13")
        func freshness() throws {
            var random = SeededBytes(seed: 6 &+ ModelSeed.first)
            var outcomes: [String: Int] = [:]
            let plain = try CacheTests.request()
            for step in 0..<Models.operations {
                let facts = Facts(&random)
                let question = facts.request
                let fields = headers(question.map { ($0.key, $0.value) })
                let asked = CacheRequest(method: "GET", url: plain.url, headers: fields)
                let stored = head(facts.response(&random), for: asked, delay: facts.delay)
                let plan = CacheRules.plan(asked, policy: .useProtocolCachePolicy, stored: stored, now: at(facts.now))
                let outcome: String =
                    switch plan {
                    case .serve: "serve"
                    case .validate: "validate"
                    case .serveAndValidate: "serve, validate"
                    case .network, .fail: "wrong"
                    }
                #expect(outcome == facts.outcome, "step \(step): \(facts)")
                outcomes[outcome, default: 0] += 1
            }
            #expect(outcomes.count == 3 && outcomes.values.allSatisfy { $0 > Models.operations / 100 })
        }
    }
}
