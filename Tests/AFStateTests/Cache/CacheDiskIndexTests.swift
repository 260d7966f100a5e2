import AFFaults
import Testing

@testable import AFState

@Suite("The cache's index of the disk")
struct CacheDiskIndexTests {
    private static func place(_ number: Int, in segment: UInt16 = 1) throws -> CachePlace {
        try #require(CachePlace(segment: segment, offset: number * 16, length: 16))
    }

    @Test("a place keeps its numbers, and refuses those that do not fit")
    func places() throws {
        for (offset, length) in [(0, 16), (16, 4096), (CachePlace.offsetLimit - 16, CachePlace.lengthLimit - 16)] {
            for segment in [1, 2, UInt16.max] {
                let place = try #require(CachePlace(segment: segment, offset: offset, length: length))
                #expect(place.segment == segment && place.offset == offset && place.length == length)
            }
        }
        let refused = [(0, 0), (0, 8), (8, 16), (-16, 16), (0, -16), (CachePlace.offsetLimit, 16)]
        for (offset, length) in refused + [(0, CachePlace.lengthLimit)] {
            #expect(CachePlace(segment: 1, offset: offset, length: length) == nil, "\(offset) \(length)")
        }
        #expect(CachePlace(segment: 0, offset: 0, length: 16) == nil)
    }

    @Test("random steps leave the index with what a set of entries has", arguments: 0..<4)
    func model(seed: UInt64) throws {
        var dice = SeededGenerator(seed: ModelSeed.first + seed)
        var (index, model) = (CacheDiskIndex(), Set<CacheDiskIndex.Entry>())
        // Few tags, so that several entries have the same; 0 is what free slots have.
        let tags = (0..<400).map { $0 == 0 ? 0 : UInt64($0) << (seed % 2 == 0 ? 0 : 40) }
        var leftOut = 0
        for step in 0..<4000 {
            let segment = UInt16(dice.pick(1...6))
            let entry = CacheDiskIndex.Entry(
                tag: dice.pick(tags),
                place: try CacheDiskIndexTests.place(dice.pick(0...300), in: segment)
            )
            switch dice.pick(0...99) {
            case 0:
                index.removeAll(inSegment: segment)
                model = model.filter { $0.place.segment != segment }
            case 1..<45:
                index.remove(entry.tag, place: entry.place)
                model.remove(entry)
            case 45..<50:
                guard let one = model.first else { continue }
                index.remove(one.tag, place: one.place)
                model.remove(one)
            case 50: index = CacheDiskIndex(Array(model))
            default:
                let (isNew, isKept) = (model.insert(entry).inserted, index.insert(entry.tag, place: entry.place))
                // It found its groups full, which hardly ever happens.
                if isNew, !isKept { leftOut += model.remove(entry) == nil ? 0 : 1 }
                #expect(isNew || !isKept)
            }
            #expect(index.count == model.count && index.isEmpty == model.isEmpty)
            guard step % 50 == 0 else { continue }
            #expect(Set(index.entries) == model)
            for tag in tags {
                let places = Set(model.filter { $0.tag == tag }.map(\.place))
                #expect(Set(index.places(of: tag)) == places && index.mayHold(tag) == !places.isEmpty)
            }
        }
        #expect(leftOut <= 1)
    }

    @Test("100,000 entries take at most 28 bytes each, however they came, and none is left out")
    func memory() throws {
        var dice = SeededGenerator(seed: 1)
        let entries = try (0..<100_000).map { number in
            CacheDiskIndex.Entry(tag: dice.next(), place: try CacheDiskIndexTests.place(number))
        }
        var slowly = CacheDiskIndex()
        for entry in entries { slowly.insert(entry.tag, place: entry.place) }
        for index in [CacheDiskIndex(entries), slowly] {
            #expect(index.count == 100_000 && index.footprint <= 2_800_000, "\(index.footprint)")
            #expect(entries.allSatisfy { index.places(of: $0.tag) == [$0.place] })
        }
    }

    @Test("tags that collide are left out and slow nothing down, T-CAC-22")
    func collisions() throws {
        var index = CacheDiskIndex()
        let kept = try (0..<100_000).filter { index.insert(7, place: try CacheDiskIndexTests.place($0)) }
        #expect((32...64).contains(kept.count) && index.count == kept.count && index.footprint < 1 << 14)
        #expect(index.insert(8, place: try CacheDiskIndexTests.place(1)) && index.mayHold(8))
        for number in kept { index.remove(7, place: try CacheDiskIndexTests.place(number)) }
        #expect(!index.mayHold(7) && index.count == 1)
    }

    @Test("an entry whose groups are full is there once and counted once, or not at all, T-CAC-22", arguments: 1...10)
    func fullGroups(seed: UInt64) throws {
        var (dice, index) = (SeededGenerator(seed: seed), CacheDiskIndex())
        for number in 0..<300 {
            // Two of three have one tag.
            let tag = number % 3 == 0 ? dice.next() : seed
            let place = try CacheDiskIndexTests.place(number)
            let isKept = index.insert(tag, place: place)
            #expect(index.places(of: tag).contains(place) == isKept)
            let (places, entries) = (index.places(of: seed), Array(index.entries))
            #expect(Set(places).count == places.count && entries.count == index.count)
        }
        #expect(index.count > 100 && index.count <= 164)
    }

    @Test("a number that is used again brings nothing back of its former segment")
    func numbers() throws {
        var index = CacheDiskIndex()
        for number in 0..<100 { index.insert(UInt64(number), place: try CacheDiskIndexTests.place(number)) }
        index.insert(1000, place: try CacheDiskIndexTests.place(0, in: 2))
        index.removeAll(inSegment: 1)
        #expect(index.count == 1 && !index.mayHold(3))
        index.insert(3, place: try CacheDiskIndexTests.place(500))
        #expect(index.count == 2 && !index.mayHold(4))
        #expect(index.places(of: 3) == [try CacheDiskIndexTests.place(500)])
    }

    @Test("an entry costs the same among many as among few")
    func slope() throws {
        let growth = try CPUTime.growth(from: 2000, to: 64_000) { count in
            var (dice, index) = (SeededGenerator(seed: 3), CacheDiskIndex())
            let tags = (0..<count).map { _ in dice.next() }
            for (number, tag) in tags.enumerated() {
                index.insert(tag, place: try CacheDiskIndexTests.place(number, in: UInt16(number % 30 + 1)))
            }
            for tag in tags where index.mayHold(tag) {
                for place in index.places(of: tag) { index.remove(tag, place: place) }
            }
            for segment in UInt16(1)...30 { index.removeAll(inSegment: segment) }
        }
        #expect(growth < 4, "\(growth)")
    }
}
