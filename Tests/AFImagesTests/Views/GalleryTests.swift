import Foundation
import Testing

/// The example of Docs/Examples/ImageGallery.
@Suite struct GalleryTests {
    @Test func `a gallery of 200 pictures that is scrolled quickly loads a part of what it asks for`() async throws {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = tests.appendingPathComponent("ImageGallery")
        let output = Pipe()
        process.standardOutput = output
        let code: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        var counts: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            counts[words.dropLast().joined(separator: " ")] = words.last.flatMap { Int($0) }
        }

        #expect(code == 0)
        let requested = try #require(counts["requested"])
        let (cancelled, merged) = (try #require(counts["cancelled"]), try #require(counts["merged"]))
        let (fromMemory, decoded) = (try #require(counts["from memory"]), try #require(counts["decoded"]))
        // Each row comes into view at least once, and the first ones twice.
        #expect(requested >= 400 && decoded > 0 && fromMemory > 0)
        // A picture that was not cached, shared or cancelled was decoded; of the cancelled ones, some had arrived.
        let alone = requested - fromMemory - merged
        #expect(decoded <= alone && decoded >= alone - cancelled)
    }
}
