import AFImages
import AFNetworking
import Foundation
import Glibc
import Testing

/// The snippets of the article about files.
@Suite struct FilesOnDiskTests {
    private let site: Site
    private let folder: URL
    private let temporary: ScratchFolder

    init() throws {
        site = try Site()
        temporary = try ScratchFolder()
        folder = temporary.url
    }

    @Test func `a process without a cache on the disk writes nothing`() async {
        await #expect(processExitsWith: .success) {
            let tests = try FilesOnDiskTests()
            setenv("XDG_CACHE_HOME", tests.folder.path, 1)
            URLCache.shared = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)

            let session = URLSession(configuration: .default)
            _ = try await session.data(from: tests.site.url("/cache/60"))
            await withCheckedContinuation { continuation in session.flush { continuation.resume() } }
            session.invalidateAndCancel()

            #expect(try FileManager.default.contentsOfDirectory(atPath: tests.folder.path) == [])
        }
    }

    @Test func `a session without a cache, and pictures without one`() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        let plain = ImageDownloader.defaultURLSessionConfiguration()
        plain.urlCache = nil
        let downloader = ImageDownloader(sessionConfiguration: plain)
        configuration.temporaryFolder = folder
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }

        let (file, _) = try await session.download(from: site.url("/cache/60"))

        #expect(file.path.hasPrefix(folder.path + "/AFURLSession-\(geteuid())/"))
        #expect(downloader.imageCache != nil)
        let rights = [file.deletingLastPathComponent(), file].map { url in
            (try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
        }
        #expect(rights == [0o700, 0o600])
    }

    @Test func `what a process writes by default is in its own folders`() async {
        await #expect(processExitsWith: .success) {
            let tests = try FilesOnDiskTests()
            setenv("XDG_CACHE_HOME", tests.folder.path, 1)
            let session = URLSession(configuration: .default)
            _ = try await session.data(from: tests.site.url("/cache/60"))
            await withCheckedContinuation { continuation in session.flush { continuation.resume() } }
            session.invalidateAndCancel()
            let pictures = ImageDownloader.defaultURLCache()
            #expect(pictures.diskCapacity == 150 << 20 && URLCache.shared.diskCapacity == 20 << 20)

            let files = FileManager.default
            let program = try #require(try files.contentsOfDirectory(atPath: tests.folder.path).first)
            #expect(try files.contentsOfDirectory(atPath: tests.folder.path).count == 1)
            let link = try files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            #expect(program.hasPrefix(URL(fileURLWithPath: link).lastPathComponent + "-"))
            let names = try files.contentsOfDirectory(atPath: tests.folder.appending(path: program).path)
            #expect(names == ["AFURLSession-cache-3"])
        }
    }
}
