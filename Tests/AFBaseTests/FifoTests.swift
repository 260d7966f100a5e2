import AFBase
import Testing

/// The queue, against an array that does the same.
struct FifoTests {
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
