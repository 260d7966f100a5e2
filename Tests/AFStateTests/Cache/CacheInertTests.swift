import Foundation
import Testing

@testable import AFState

extension CacheTests {
    @Suite("Responses that say nothing to a cache")
    struct Inert {
        private static func entry(_ url: String, _ length: Int, at time: Int64 = 0) throws -> CacheEntry {
            entry(for: try CacheTests.request(url), length, at: time)
        }

        private static func entry(for request: CacheRequest, _ length: Int, at time: Int64 = 0) -> CacheEntry {
            let head = CacheTests.head([], for: request, at: time)
            return CacheEntry(head: head, body: Data(repeating: 0, count: length), mayGoToDisk: false)
        }

        @Test func `the first to come is the first to go, as in a list`() throws {
            var random = SeededBytes(seed: 41 &+ ModelSeed.first)
            var inert = CacheInert()
            var model: [CacheEntry] = []
            let requests = try (0..<200).map { try CacheTests.request("http://a.test/\($0)") }
            for step in 0..<2_000 {
                let entry = Self.entry(for: requests[random.number(below: 200)], random.number(below: 900))
                let place = model.firstIndex { $0.id == entry.id }
                switch random.number(below: 40) {
                case 0: #expect(inert.remove(entry.id) === place.map { model.remove(at: $0) }, "step \(step)")
                case 1:
                    let room = random.number(below: 200_000)
                    inert.shrink(to: room)
                    while model.reduce(0, { $0 + $1.size }) > room { model.removeFirst() }
                default:
                    inert.insert(entry)
                    // It has the place of that of its URL.
                    if let place { model[place] = entry } else { model.append(entry) }
                }
                #expect(inert[entry.id] === model.first { $0.id == entry.id }, "step \(step)")
                #expect(inert.total == model.reduce(0) { $0 + $1.size }, "step \(step)")
            }
            #expect(inert.entries.elementsEqual(model, by: ===) && !model.isEmpty)
        }

        @Test func `one that has to go is released`() throws {
            var inert = CacheInert()
            weak var first: CacheEntry?
            do {
                let entry = try Self.entry("http://a.test/1", 500)
                first = entry
                inert.insert(entry)
            }
            #expect(first != nil)
            inert.shrink(to: 0)
            #expect(first == nil && inert.total == 0)
        }

        @Test func `they get an eighth of the memory, and one that is too long leaves the others`() throws {
            let store = CacheScene.store(in: nil, memory: 80_000, disk: 0, CacheClocks())
            for number in 0..<100 {
                #expect(store.insert(try Self.entry("http://a.test/\(number)", 400), ticket: store.ticket))
            }
            #expect(store.memoryUsage <= 10_000 && store.memoryUsage > 9_000 && store.isInert && !store.isSurelyEmpty)
            let key = try CacheTests.request("http://a.test/99").key
            #expect(!store.mayAnswer(key) && store.known(of: key).count == 1)
            #expect(!store.insert(try Self.entry("http://a.test/99", 4_000), ticket: store.ticket))
            #expect(store.known(of: key).count == 1)
        }

        @Test func `the later one stays, and one that says something takes its place`() throws {
            let store = CacheScene.store(in: nil, memory: 1 << 20, disk: 0, CacheClocks())
            let request = try CacheTests.request("http://a.test/1")
            store.insert(try Self.entry("http://a.test/1", 2, at: 20), ticket: store.ticket)
            store.insert(try Self.entry("http://a.test/1", 1, at: 10), ticket: store.ticket)
            #expect(store.known(of: request.key).map(\.body.count) == [2])

            let said = CacheTests.head([("ETag", "\"1\"")], for: request, at: 30)
            store.insert(CacheEntry(head: said, body: Data(count: 3), mayGoToDisk: false), ticket: store.ticket)
            #expect(store.known(of: request.key).map(\.body.count) == [3] && !store.isInert)
            store.insert(try Self.entry("http://a.test/1", 4, at: 40), ticket: store.ticket)
            #expect(store.known(of: request.key).map(\.body.count) == [4] && store.isInert)
            store.forget(request.key)
            #expect(store.isSurelyEmpty && store.memoryUsage == 0)
        }
    }
}
