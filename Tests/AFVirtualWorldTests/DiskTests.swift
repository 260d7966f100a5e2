import AFLoop
import AFTestSupport
import AFVirtualWorld
import Foundation
import Testing

@Suite("A virtual disk")
struct DiskTests {
    private let faults = Faults(random: SeededGenerator(seed: 3))
    private let disk: VirtualDisk

    init() throws {
        disk = try VirtualDisk(faults: faults)
    }

    private func write(_ text: String, as name: String, synced: Bool) throws {
        let folder = try Folder(path: disk.path)
        let (file, hasName) = try folder.makeFile(named: name)
        var written: Int64 = 0
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes { try file.write([$0], at: 0, written: &written) }
        if synced { try file.sync() }
        if !hasName { try file.link(as: name, in: folder) }
        if synced { try folder.sync() }
    }

    private func text(_ name: String, in disk: VirtualDisk) -> String? {
        try? String(contentsOf: disk.file(name), encoding: .utf8)
    }

    @Test func `M-03 each failure of a disk is that of its call`() throws {
        let points: [FaultPoint] = [
            .diskOpenFails, .diskOpenDenied, .diskWithoutDescriptor, .diskOpenFull, .diskWriteFails, .diskWriteFull,
            .diskSyncFails,
        ]
        for point in points {
            let faults = Faults()
            let disk = try VirtualDisk(faults: faults)
            faults.arm(point, rate: 1000)
            disk.mount()
            defer { disk.unmount() }
            #expect(throws: SystemCallError.self, "\(point.name)") {
                let (file, _) = try Folder(path: disk.path).makeFile(named: "a")
                var written: Int64 = 0
                try [1, 2, 3].withUnsafeBytes { try file.write([$0], at: 0, written: &written) }
                try file.sync()
            }
            #expect(faults.count(point) == 1, "\(point.name)")
        }
    }

    @Test func `calls that are interrupted or short are made again`() throws {
        faults.arm(.diskInterrupted, rate: 300)
        faults.arm(.diskWriteShort, rate: 700)
        disk.mount()
        defer { disk.unmount() }
        let long = String(repeating: "0123456789", count: 500)
        for name in ["a", "b", "c", "d", "e", "f"] {
            try write(long, as: name, synced: true)
            #expect(text(name, in: disk) == long)
        }
        #expect(faults.count(.diskInterrupted) > 0 && faults.count(.diskWriteShort) > 0)
    }

    @Test func `what was synced outlives the power, with its name`() throws {
        disk.mount()
        defer { disk.unmount() }
        disk.cutPower(atCall: 1000)
        try write("kept", as: "a", synced: true)
        disk.cutPower(atCall: 1)
        #expect(throws: SystemCallError.self) { try write("never", as: "b", synced: true) }
        let left = try #require(disk.survivors)
        #expect(text("a", in: left) == "kept")
        #expect(text("b", in: left) == nil)
    }

    @Test func `what was not may be lost, or torn, or there`() throws {
        var found: Set<String> = []
        let whole = String(repeating: "x", count: 2000)
        for seed in 0..<60 as Range<UInt64> {
            let faults = Faults(random: SeededGenerator(seed: seed))
            let disk = try VirtualDisk(faults: faults)
            disk.mount()
            defer { disk.unmount() }
            disk.cutPower(atCall: 1000)
            let folder = try Folder(path: disk.path)
            let (file, hasName) = try folder.makeFile(named: "a")
            var written: Int64 = 0
            try Array(whole.utf8).withUnsafeBytes { try file.write([$0], at: 0, written: &written) }
            if !hasName { try file.link(as: "a", in: folder) }
            disk.cutPower(atCall: 1)
            #expect(throws: SystemCallError.self) { try file.sync() }
            let left = try #require(disk.survivors)
            switch text("a", in: left) {
            case nil: found.insert("no name")
            case whole?: found.insert("whole")
            case ""?: found.insert("empty")
            case let text? where text.utf8.contains(0): found.insert("torn")
            default: found.insert("short")
            }
        }
        #expect(found == ["no name", "whole", "empty", "torn", "short"])
    }
}
