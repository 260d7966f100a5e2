import AFFaults
import CAFLinux
import Glibc

/// What goes wrong in the whole process.
enum Faults {
    /// No name resolves.
    static func noNames() { LookupGate.answer(EAI_NONAME) }
    /// The next write to a file finds the disk full.
    static func fullDisk() { FaultInjector.failNext(CAF_CALL_PWRITE, with: ENOSPC) }
    static func stop() { FaultInjector.stop() }
}
