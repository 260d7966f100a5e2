@Suite("Simulated disks")
struct StorageWalkTests {
    /// `./dev simulate` runs more of them.
    @Test(arguments: 0..<4)
    func `T-CAC-18 T-CAC-22 whatever a disk does and whenever the power fails, nothing wrong is found`(
        batch: UInt64
    ) throws {
        var counts = [Int](repeating: 0, count: FaultPoint.allCases.count)
        for seed in (batch * 100)..<(batch * 100 + 100) {
            let walk = try StorageWalk(seed: seed)
            for violation in walk.run().prefix(3) {
                Issue.record("seed \(seed): \(violation)\n\(walk.notes.joined(separator: "\n"))")
            }
            for (number, count) in walk.faults.all.enumerated() { counts[number] += count }
        }
        // Otherwise nothing was tried.
        for point in [FaultPoint.diskPowerCut, .diskLostName, .diskWriteFull] {
            #expect(counts[point.rawValue] > 0, "\(point.name)")
        }
    }
}
