import Testing

@testable import AFBase

/// The heap, against an array that is sorted for each question.
struct HeapTests {
    private struct Model {
        var entries: [(element: Int, key: Int, order: Int)] = []

        var sorted: [Int] { entries.sorted { ($0.key, $0.order) < ($1.key, $1.order) }.map(\.element) }
    }

    @Test func `elements come by key and then in the order in which they were added, whatever moves and leaves`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            var (heap, model, places) = (Heap<Int, Int>(), Model(), [Int: HeapPlace]())
            for number in 0..<200 {
                let index = model.entries.indices.randomElement(using: &generator)
                let key = Int.random(in: 0..<6, using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0, 1, 2:
                    places[number] = heap.add(number, key)
                    model.entries.append((number, key, number))
                case 3:
                    let first = model.sorted.first
                    #expect(heap.popFirst() == first)
                    model.entries.removeAll { $0.element == first }
                case 4, 5:
                    guard let index, let place = places[model.entries[index].element] else { continue }
                    heap.move(place, to: key)
                    model.entries[index].key = key
                    #expect(heap.key(of: place) == key)
                default:
                    guard let index, let place = places[model.entries[index].element] else { continue }
                    #expect(heap.remove(place) == model.entries[index].element)
                    model.entries.remove(at: index)
                }
                let sorted = model.sorted
                #expect(heap.first == sorted.first && heap.count == sorted.count)
                #expect(heap.firstKey == model.entries.map(\.key).min())
                for divisor in 1...3 {
                    #expect(heap.first { $0 % divisor == 0 } == sorted.first { $0 % divisor == 0 })
                }
                guard let place = sorted.randomElement(using: &generator).flatMap({ places[$0] }) else { continue }
                let rank = sorted.firstIndex { places[$0]?.slot == place.slot }
                for limit in 0...sorted.count {
                    #expect(heap.isAmongFirst(limit, place) == (rank.map { $0 < limit } ?? false))
                }
            }
            #expect((0..<model.entries.count).map { _ in heap.popFirst() } == model.sorted)
            #expect(heap.isEmpty && heap.first == nil && heap.popFirst() == nil)
        }
    }

    @Test func `elements that come in order leave in order, though others leave early or come late`() {
        var generator = SystemRandomNumberGenerator()
        for disorder in [0, 1, 50] {
            var (heap, list, places, number) = (Heap<Int, Int>(), [Int](), [Int: HeapPlace](), 0)
            for _ in 0..<4_000 {
                let isFilling = list.count < 300 && Bool.random(using: &generator)
                if isFilling || list.isEmpty {
                    places[number] = heap.add(number, 0)
                    list.append(number)
                    number += 1
                } else if Int.random(in: 0..<1_000, using: &generator) < disorder,
                    let place = places[list[list.count / 2]]
                {
                    #expect(heap.remove(place) == list.remove(at: list.count / 2))
                } else if Int.random(in: 0..<10, using: &generator) == 0, let place = places[list[list.count - 1]] {
                    #expect(heap.remove(place) == list.removeLast())
                } else {
                    #expect(heap.popFirst() == list.removeFirst())
                }
                #expect(heap.first == list.first && heap.count == list.count)
                guard let last = list.last.flatMap({ places[$0] }) else { continue }
                #expect(heap.isAmongFirst(list.count, last) && !heap.isAmongFirst(list.count - 1, last))
            }
            while let first = heap.popFirst() { #expect(first == list.removeFirst()) }
            #expect(list.isEmpty)
        }
    }

    @Test func `a heap keeps no element that has left, and its storage only while it is small`() {
        final class Object {}
        var heap = Heap<Int, Object>()
        for count in [1, 64, 65, 1_000] {
            weak var left: Object?
            var places: [HeapPlace] = []
            for number in 0..<count {
                let object = Object()
                if number == 0 { left = object }
                places.append(heap.add(object, number % 3))
            }
            for place in places { heap.remove(place) }
            #expect(left == nil && heap.isEmpty)
            #expect(heap.slots.capacity <= 2 * Heap<Int, Object>.keptCapacity, "\(count)")
        }
        _ = heap.add(Object(), 1)
        heap.popFirst()
        #expect(heap.slots.capacity > 0)
    }
}
