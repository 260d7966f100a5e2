import AFBase
import Dispatch
import Testing

@Suite struct LockTests {
    @Test func `a value that another thread has is left alone`() {
        let lock = Lock(1)
        let (isHeld, mayGoOn, isFree) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        DispatchQueue.global().async {
            lock.withLock { value in
                value = 2
                isHeld.signal()
                mayGoOn.wait()
            }
            isFree.signal()
        }
        isHeld.wait()
        #expect(lock.withLockIfFree { $0 } == nil)
        mayGoOn.signal()
        isFree.wait()
        #expect(lock.withLockIfFree { $0 += 1 } != nil)
        #expect(lock.withLock { $0 } == 3)
    }
}
