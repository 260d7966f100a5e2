import Testing

@Suite struct GalleryTests {
    @Test func `a gallery of 200 pictures that is scrolled quickly loads a part of what it asks for`() async throws {
        let run = try await Example.run("ImageGallery")
        var counts: [String: Int] = [:]
        for line in run.lines {
            let words = line.split(separator: " ")
            counts[words.dropLast().joined(separator: " ")] = words.last.flatMap { Int($0) }
        }

        #expect(run.code == 0)
        #expect(run.errors == "")
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
