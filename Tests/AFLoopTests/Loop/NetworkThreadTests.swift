import AFLoop
import CAFLinux
import Glibc
import Synchronization
import Testing

private let attempts = Atomic(0)
private let failures = Atomic(0)

@Suite struct NetworkThreadTests {
    @Test func `T-RES-23 a caller that comes while the thread cannot be started gets the same error`() async {
        await #expect(processExitsWith: .success) {
            caf_set_hook { call in
                guard let call, call.pointee.call == CAF_CALL_THREAD else { return false }
                attempts.add(1, ordering: .relaxed)
                // The others come meanwhile.
                usleep(50_000)
                call.pointee.result = -Int(EAGAIN)
                return true
            }

            await withTaskGroup(of: Void.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        do throws(SystemCallError) {
                            try NetworkThread.ensureRunning()
                        } catch {
                            if error.code == EAGAIN { failures.add(1, ordering: .relaxed) }
                        }
                    }
                }
            }

            #expect(failures.load(ordering: .relaxed) == 8)
            #expect(attempts.load(ordering: .relaxed) == 8)
            caf_set_hook(nil)
            #expect(throws: Never.self) { try NetworkThread.ensureRunning() }
        }
    }
}
