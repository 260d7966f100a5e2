import Testing

@testable import AFBase

/// The queue, against an array that does the same.
struct FifoTests {
    @Test func `an empty queue keeps its storage only if that is small`() {
        for count in [1, 16, 17, 18, 40, 1000] {
            var queue = Fifo<Int>()
            for _ in 0..<3 {
                for number in 0..<count { queue.append(number) }
                while queue.popFirst() != nil {}
                #expect(queue.elements.capacity <= Fifo<Int>.keptCapacity, "\(count)")
            }
        }
        var queue = Fifo<Int>()
        queue.append(1)
        _ = queue.popFirst()
        #expect(queue.elements.capacity > 0)
    }

    @Test func `elements come in order, whatever is put back and removed`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var (queue, model, next) = (Fifo<Int>(), [Int](), 0)
            for _ in 0..<200 {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1, 2:
                    queue.append(next)
                    model.append(next)
                    next += 1
                case 3: #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
                case 4:
                    guard let first = queue.popFirst() else { continue }
                    queue.putBack(first)
                default:
                    let number = Int.random(in: 0...next, using: &generator)
                    let index = model.firstIndex(of: number)
                    #expect(queue.remove { $0 == number } == (index != nil))
                    if let index { model.remove(at: index) }
                }
                #expect(queue.isEmpty == model.isEmpty && queue.first == model.first)
            }
            #expect(queue.takeAll() == model && queue.isEmpty)
        }
    }
}
