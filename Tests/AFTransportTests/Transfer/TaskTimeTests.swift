import AFLoop
import AFTransport

@Suite("The time of a task")
struct TaskTimeTests {
    private func at(_ second: Int64) -> LoopInstant { LoopInstant(nanoseconds: second * 1_000_000_000) }

    @Test func `a suspension does not count, however often it is said`() {
        var time = TaskTime(from: at(0), until: at(60))
        #expect(time.deadline == at(60) && time.end(at: at(10)) == at(60))

        time.suspend(at: at(10))
        time.suspend(at: at(20))
        #expect(time.deadline == .distantFuture)
        #expect(time.end(at: at(30)) == at(80))

        time.resume(at: at(40))
        time.resume(at: at(50))
        #expect(time.deadline == at(90) && time.end(at: at(100)) == at(90))
    }

    @Test func `a span counts what of it was suspended`() {
        var time = TaskTime(from: at(0), until: at(60))
        #expect(time.suspension(since: at(0), to: at(10)) == .zero)
        time.suspend(at: at(10))
        #expect(time.suspension(since: at(0), to: at(15)) == .seconds(5))
        #expect(time.suspension(since: at(12), to: at(15)) == .seconds(3))
    }

    @Test func `a limit only shortens it, and what has no end has none after a suspension`() {
        var time = TaskTime(from: at(0), until: at(60))
        time.limit(to: at(90))
        #expect(time.deadline == at(60))
        time.limit(to: at(30))
        #expect(time.deadline == at(30))

        var endless = TaskTime(from: at(0), until: .distantFuture)
        endless.suspend(at: at(1))
        endless.resume(at: at(2))
        #expect(endless.deadline == .distantFuture)
    }
}
