import AFVirtualSystem
import Foundation
import Testing

@testable import AFState

extension CacheTests {
    /// What a disk that failed in between has in store.
    @Suite("The cache, and a disk that fails for a while")
    struct FailingDisk {
        private let faults = AFVirtualSystem.Faults()
        private let disk: VirtualDisk
        private let clocks = CacheClocks()
        private let store: CacheStore
        private let url = "http://a.test/"

        init() throws {
            disk = try VirtualDisk(faults: faults)
            // Without room in memory every look is one at the disk.
            store = CacheScene.store(in: disk.path, memory: 0, disk: 60_000, clocks)
        }

        private func put(_ body: String) throws {
            store.insert(try CacheScene.entry(url, body))
            store.catchUp()
        }

        private func found() throws -> String? { try CacheScene.get(url, from: store) }

        /// As long as a disk that failed is left alone. Then something is written, and all files are looked at.
        private func recover() throws {
            faults.disarm()
            clocks.advance(by: 100)
            store.insert(try CacheScene.entry("http://a.test/other", "x"))
            store.catchUp()
        }

        @Test func `T-CAC-11 a response that could not be written takes the place of the former all the same`() throws {
            disk.mount()
            defer { disk.unmount() }
            try put("old")
            #expect(try found() == "old")
            faults.arm(.diskWriteFull, rate: 1000)
            try put("new")
            try recover()
            #expect(try found() == nil)
            try put("newest")
            #expect(try found() == "newest" && store.isConsistent())
        }

        @Test func `T-CAC-11 so does one that came while the disk was left alone`() throws {
            disk.mount()
            defer { disk.unmount() }
            try put("old")
            faults.arm(.diskWriteFull, rate: 1000)
            store.insert(try CacheScene.entry("http://a.test/one", "x"))
            store.catchUp()
            try put("new")
            // This one is too long for the disk in any case.
            store.insert(try CacheScene.entry(url, String(repeating: "x", count: 10_000)))
            try recover()
            #expect(try found() == nil)
        }

        @Test func `T-CAC-11 a former response that cannot be marked, removed or emptied does not come back`() throws {
            disk.mount()
            defer { disk.unmount() }
            try put("old")
            for fault in [FaultPoint.diskWriteFull, .diskRemoveFails, .diskOpenFails] { faults.arm(fault, rate: 1000) }
            try put("new")
            try recover()
            #expect(try found() == nil && store.isConsistent())
        }

        @Test func `T-CAC-22 a disk that failed is left alone for a minute`() throws {
            disk.mount()
            defer { disk.unmount() }
            faults.arm(.diskWriteFull, rate: 1000)
            try put("one")
            faults.disarm()
            clocks.advance(by: 59)
            try put("two")
            #expect(try found() == nil)
            clocks.advance(by: 1)
            try put("three")
            #expect(try found() == "three")
        }

        @Test(arguments: [false, true])
        func `T-CAC-14 an entry whose file could not be removed is not found again`(all: Bool) throws {
            disk.mount()
            defer { disk.unmount() }
            try put("old")
            faults.arm(.diskRemoveFails, rate: 1000)
            if all { store.forgetAll() } else { store.forget(try CacheTests.request(url).key) }
            store.catchUp()
            try recover()
            #expect(try found() == nil && store.isConsistent())
        }
    }
}
