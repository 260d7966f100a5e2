import Glibc
import Testing

@testable import AFLoop

@Suite("Memory that the process frees")
struct FreedMemoryTests {
    /// The pages that the kernel makes while blocks as large as a body come and go. They are the last ones of the heap, which
    /// glibc gives back.
    private static func pagesMade(rounds: Int) -> Int {
        func faults() -> Int {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_minflt
        }
        let size = 64 << 10
        let before = faults()
        for _ in 0..<rounds {
            let blocks = (0..<4).map { _ in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16) }
            for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 1, count: size) }
            for block in blocks { block.deallocate() }
        }
        return faults() - before
    }

    @Test func `pages of a long body serve the next one`() async {
        await #expect(processExitsWith: .success) {
            FreedMemory.keep()
            _ = Self.pagesMade(rounds: 10)
            // 64 in each round, if the kernel has them back.
            #expect(Self.pagesMade(rounds: 100) < 1_000)
        }
    }
}
