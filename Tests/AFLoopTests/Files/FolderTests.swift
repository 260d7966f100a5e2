import AFFaults
import CAFLinux
import Foundation
import Testing

@testable import AFLoop

/// One at a time, each in a process of its own: there is one hook for all system calls.
@Suite("Folders")
struct FolderTests {
    /// A folder with files of these names, whose content is their name.
    private static func folder(holding names: String...) throws -> (folder: Folder, url: URL) {
        let url = FileManager.default.temporaryDirectory.appending(path: "af-folder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        for name in names { try Data(name.utf8).write(to: url.appending(path: name)) }
        return (try Folder(path: url.path), url)
    }

    private static func contents(of url: URL) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self))
            }
        )
    }

    @Test func `a folder that breaks while it is read fails, in place of having fewer names`() async {
        await #expect(processExitsWith: .success) {
            let (folder, url) = try FolderTests.folder(holding: "one", "two")
            defer { try? FileManager.default.removeItem(at: url) }
            let whole = Set(try folder.listed())
            #expect(whole.isSuperset(of: ["one", "two"]))
            let failures = await FaultInjector.enumerate(.fails(EIO), of: CAF_CALL_READ_FOLDER) { _ in
                let listed = Result { try folder.listed() }
                switch listed {
                case .success(let names): #expect(Set(names) == whole && !FaultInjector.hasFired)
                case .failure(let error): #expect((error as? SystemCallError)?.code == EIO && FaultInjector.hasFired)
                }
            }
            // The stream, each name, and the end behind them.
            #expect(failures == whole.count + 2)
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test(arguments: [EINVAL, ENOSYS])
    func `a file system that cannot see to free names does not lose what has the name`(code: Int32) async {
        await #expect(processExitsWith: .success) { [code = code as Int32] in
            let (folder, url) = try FolderTests.folder(holding: "one", "two")
            defer { try? FileManager.default.removeItem(at: url) }
            FaultInjector.failNext(CAF_CALL_RENAME, with: code)
            #expect(throws: SystemCallError(.rename, code: EEXIST)) {
                try folder.move("one", to: "two", in: folder, replacing: false)
            }
            #expect(try FolderTests.contents(of: url) == ["one": "one", "two": "two"])
            FaultInjector.failNext(CAF_CALL_RENAME, with: code)
            try folder.move("one", to: "three", in: folder, replacing: false)
            FaultInjector.failNext(CAF_CALL_RENAME, with: code)
            try folder.rename("two", to: "four")
            #expect(try FolderTests.contents(of: url) == ["three": "one", "four": "two"])
        }
    }

    @Test func `a closed file is not locked, although a child of the process still has it`() async {
        await #expect(processExitsWith: .success) {
            let (folder, url) = try FolderTests.folder(holding: "one")
            defer { try? FileManager.default.removeItem(at: url) }
            let file = try folder.openFile(named: "one")
            try file.lock()
            let path = url.appending(path: "one").resolvingSymlinksInPath().path
            let descriptor = (0..<64).first { number in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
            }
            // A child's descriptor is such a copy.
            let copy = dup(Int32(try #require(descriptor)))
            defer { close(copy) }
            let other = try folder.openFile(named: "one")
            #expect(throws: SystemCallError(.flock, code: EWOULDBLOCK)) { try other.lock() }

            try file.close()
            try other.lock()
        }
    }
}
