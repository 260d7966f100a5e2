import AFBase
import AFFaults
import CAFLinux
import Foundation
import Glibc
import Testing

@Suite("System calls for threads, time and texts")
struct ThreadCallTests {
    private struct Found {
        let name = ProcessUse.text(of: "/proc/thread-self/comm")
        let blocked = ThreadCallTests.blocked()
        let isDetached = pthread_detach(pthread_self()) == EINVAL
    }

    private static let found = Lock<Found?>(nil)

    private static func blocked() -> Set<Int32> {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        return Set((1...64).filter { sigismember(&mask, $0) == 1 })
    }

    @Test func `a thread has its name, and no signals but those of its own faults`() async {
        await #expect(processExitsWith: .success) {
            let own = Self.blocked()
            for name in ["short", "exactly-fifteen", "more-than-fifteen-bytes"] {
                let result = caf_start_thread(
                    name,
                    256 << 10,
                    { _ in Self.found.withLock { $0 = Found() } },
                    nil
                )
                for _ in 0..<5_000 where Self.found.withLock({ $0 == nil }) { usleep(1_000) }
                let found = Self.found.withLock { $0.take() }
                #expect(result == 0 && found?.name == "\(name.prefix(15))\n" && found?.isDetached == true)
                // Two more are the C library's own.
                let open = Set(1...64).subtracting(found?.blocked ?? []).subtracting([32, 33])
                #expect(open == [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, SIGKILL, SIGSTOP])
                #expect(Self.blocked() == own)
            }
            #expect(caf_start_thread("none", 1, { _ in abort() }, nil) == -EINVAL && Self.blocked() == own)
        }
    }

    @Test func `nothing is left of what was released or could not be started`() async {
        await #expect(processExitsWith: .success) {
            func round() {
                var list: UnsafeMutablePointer<addrinfo>?
                #expect(caf_getaddrinfo("127.0.0.1", &list) == 0 && list?.pointee.ai_next == nil && list != nil)
                caf_freeaddrinfo(list)
                caf_freeaddrinfo(nil)
                caf_free_block(1 << 20)
                _ = caf_start_thread("none", 1, { _ in }, nil)
                let timer = caf_run_loop_timer_make({ _, _ in }, 1)
                caf_run_loop_timer_add(timer, false, "com.example.a.mode.with.a.name.of.its.own")
                caf_run_loop_timer_end(timer)
                caf_run_loop_timer_release(timer)
            }
            for _ in 0..<100 { round() }
            let before = ProcessUse.heapBytes
            for _ in 0..<500 { round() }
            #expect(ProcessUse.heapBytes - before < 8_000)
        }
    }

    @Test func `time is that of the kernel, and goes on while one sleeps`() {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec * 1_000_000_000 + time.tv_nsec)
        }
        for _ in 0..<1_000 {
            let (before, time, after) = (now(), caf_monotonic_nanoseconds(), now())
            #expect((before...after).contains(time))
        }
        let before = now()
        caf_sleep_nanoseconds(2_000_000)
        #expect(now() - before >= 2_000_000)
    }

    @Test func `a thread carries the mark it was given last`() {
        let marks = [8, 16].map { UnsafeRawPointer(bitPattern: $0) }
        let before = caf_exchange_thread_mark(marks[0])
        #expect(caf_thread_mark() == marks[0] && caf_exchange_thread_mark(marks[1]) == marks[0])
        #expect(caf_exchange_thread_mark(before) == marks[1] && caf_thread_mark() == before)
    }

    @Test func `a text is cut where there is no more room, and nothing is written beyond`() {
        let (wrong, unknown) = (String(cString: strerror(EINVAL)), String(cString: gai_strerror(EAI_NONAME)))
        for room in [0, 1, 2, 9, 60] {
            for (whole, describe) in [
                (wrong, { caf_describe_errno(EINVAL, $0, room) }),
                (unknown, { caf_describe_resolver_error(EAI_NONAME, $0, room) }),
                (
                    wrong,
                    {
                        errno = EINVAL; caf_describe_resolver_error(EAI_SYSTEM, $0, room)
                    }
                ),
            ] as [(String, (UnsafeMutablePointer<CChar>) -> Void)] {
                var bytes = [CChar](repeating: 1, count: 80)
                describe(&bytes)
                #expect(bytes[room...].allSatisfy { $0 == 1 })
                #expect(room == 0 || strncmp(bytes, "\(whole.prefix(room - 1))", room) == 0, "\(room)")
            }
        }
    }

    @Test func `a child made by a fork knows that it is one`() async {
        await #expect(processExitsWith: .success) {
            #expect(Fork.run { caf_is_forked_child() ? 1 : 0 } == 0)
            for _ in 1...2 { caf_watch_forks() }
            #expect(Fork.run { caf_is_forked_child() ? 1 : 0 } == 1 && !caf_is_forked_child())
        }
    }
}
