import AFFaults
import Foundation
import Glibc
import Testing

@testable import afnet_soak

@Suite("The program that repeats things", .serialized)
struct ProgramTests {
    private func soak(_ words: String...) async throws -> (status: Int32, text: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("output")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("afnet-soak")
        let status = try await ChildProcess.run(
            program.path,
            words + (words.first == "run" ? ["--output", folder.path] : []),
            environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 },
            output: output.fileDescriptor,
            errors: output.fileDescriptor
        )
        try output.close()
        if words.first == "run" {
            #expect(try Data(contentsOf: folder.appendingPathComponent("memory.svg")).count > 100)
        }
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test func `there are enough kinds of ends, each with a name of its own`() {
        #expect(Kind.all.count >= 25 && Set(Kind.all.map(\.name)).count == Kind.all.count)
    }

    /// Not so with the allocator of a sanitizer.
    private static let isHeapCounted: Bool = {
        let before = ProcessUse.heapBytes
        let block = malloc(1 << 20)
        defer { free(block) }
        return ProcessUse.heapBytes - before >= 1 << 20
    }()

    @Test(.enabled(if: isHeapCounted, "what malloc has handed out is not told"))
    func `T-RES-50 a leak is found, and named`() async throws {
        let (status, text) = try await soak("slopes", "--repetitions", "400", "--leak")

        #expect(status == 1 && text.contains("WRONG: a leak, on purpose"), "\(text)")
    }

    @Test func `T-RES-50 an end that is not as it should be is named`() async throws {
        let (status, text) = try await soak("slopes", "--repetitions", "40", "--misfit")

        #expect(status == 1 && text.contains("expected \"hello\", but it was status 200 and 3 bytes"), "\(text)")
    }

    @Test func `T-RES-50 what is well is well`() async throws {
        let (status, text) = try await soak("slopes", "--repetitions", "1000", "refused", "in a run loop")

        #expect(status == 0, "\(text)")
    }

    @Test func `a mixed load of some seconds is well, while servers come and go`() async throws {
        let (status, text) = try await soak("run", "--minutes", "0.3", "--connections", "16")

        // What some seconds show of growth, says nothing.
        #expect(!text.contains("expected") && text.contains("0 wrong") && status != 2, "\(text)")
    }

    @Test(arguments: [["slopes", "--often"], ["slopes", "no such kind"], ["run", "--minutes", "soon"], ["walk"]])
    func `words that mean nothing are refused`(words: [String]) async throws {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("afnet-soak")

        #expect(try await ChildProcess.run(program.path, words, environment: ProcessInfo.processInfo.environment) == 2)
    }
}
