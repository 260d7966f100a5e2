import AFBase
import Dispatch
import Testing

struct OnceReferenceTests {
    final class Object: Sendable {}

    final class Place: Sendable {
        let reference = OnceReference<Object>()
    }

    @Test func `the first object stays`() {
        let reference = OnceReference<Object>()
        let first = Object()

        #expect(reference.value == nil)
        #expect(reference.set(first) === first)
        #expect(reference.set(Object()) === first)
        #expect(reference.value === first)
    }

    @Test func `threads that race get the same object`() {
        for _ in 0..<200 {
            let place = Place()
            let found = Lock<[ObjectIdentifier]>([])

            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let object = place.reference.set(Object())
                found.withLock { $0.append(ObjectIdentifier(object)) }
            }

            #expect(Set(found.withLock { $0 }).count == 1)
        }
    }

    @Test func `the object ends with the reference`() {
        weak var object: Object?
        do {
            let place = Place()
            let made = Object()
            object = made
            _ = place.reference.set(made)
            #expect(object != nil)
        }

        #expect(object == nil)
    }
}
