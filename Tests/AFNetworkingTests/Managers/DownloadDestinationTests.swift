import Glibc

/// Where managers put downloaded files.
@Suite struct DownloadDestinationTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let folder: ScratchFolder
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        folder = try ScratchFolder()
        for letter in ["a", "b", "c", "d"] {
            site.server.route("GET", "/\(letter)", .text(String(repeating: letter, count: 100_000)))
        }
    }

    private func download(_ path: String, to place: URL, by manager: URLSessionManager) {
        manager.downloadTask(
            with: site.request(path),
            progress: nil,
            destination: { _, _ in place },
            completionHandler: heard.download
        )
        .resume()
    }

    @Test func `T-FIL-24 of several downloads to one place one succeeds, whole, and the others fail`() async throws {
        let managers = (0..<4).map { _ in site.manager }
        for round in 0..<10 {
            let place = folder.url.appendingPathComponent("\(round)")
            for (letter, manager) in zip("abcd", managers) { download("/\(letter)", to: place, by: manager) }
            let answers = try await heard.wait(for: 4 * (round + 1)).suffix(4)

            #expect(answers.count { $0.error == nil } == 1)
            #expect(answers.allSatisfy { [nil, CocoaError.fileWriteFileExists.rawValue].contains($0.error?.code) })
            let contents = try String(contentsOf: place, encoding: .utf8)
            #expect(contents.count == 100_000 && Set(contents).count == 1)
        }
    }

    @Test func `T-FIL-24 a file is not overwritten while it is sent`() async throws {
        let file = folder.url.appendingPathComponent("file")
        let content = Data(repeating: 1, count: 3_000_000)
        try content.write(to: file)
        manager.responseSerializer = HTTPResponseSerializer()
        let upload = manager.uploadTask(
            with: site.request("/count", method: "POST"),
            fromFile: file,
            progress: nil,
            completionHandler: heard.completion
        )
        upload.resume()
        download("/a", to: file, by: manager)

        let answers = try await heard.wait(for: 2)
        #expect(Set(answers.map { $0.error?.code }) == [nil, CocoaError.fileWriteFileExists.rawValue])
        #expect(try Data(contentsOf: file) == content)
        #expect(site.server.requests.first { $0.path == "/count" }?.bodyByteCount == content.count)
    }

    private static func device(of path: String) -> UInt? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_dev : nil
    }

    private static let hasTwoFileSystems =
        device(of: "/dev/shm") != nil && device(of: "/dev/shm") != device(of: NSTemporaryDirectory())

    @Test(.enabled(if: hasTwoFileSystems, "there is one file system only"))
    func `T-FIL-02, 27 a file that goes to another file system is its owner's only there, too`() async throws {
        let place = URL(fileURLWithPath: "/dev/shm/af-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        download("/a", to: place, by: manager)

        #expect(try await heard.first.error == nil)
        #expect(try Data(contentsOf: place) == Data(repeating: UInt8(ascii: "a"), count: 100_000))
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test(arguments: ["a b", "ü\u{301}", "-rf", "..x", ".hidden", "a\nb", "%41", String(repeating: "x", count: 255)])
    func `T-FIL-23 any name that a file may have will do`(name: String) async throws {
        let place = folder.url.appendingPathComponent(name)
        download("/a", to: place, by: manager)

        let answer = try await heard.first
        #expect(answer.error == nil && answer.object as? URL == place)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
    }

    @Test func `T-FIL-23 a name that no file can have is an error`() async throws {
        let names = [
            String(repeating: "x", count: 256), String(repeating: "x/", count: 3000), "%FF",
        ]
        for (index, name) in names.enumerated() {
            let place = try #require(URL(string: "\(folder.url.absoluteString)/\(name)"))
            download("/a", to: place, by: manager)
            let answer = try await heard.wait(for: index + 1)[index]
            #expect(answer.error?.domain == NSCocoaErrorDomain, "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let elsewhere = try #require(URL(string: "http://h.test\(folder.path)/file"))
        download("/a", to: elsewhere, by: manager)
        #expect(try await heard.wait(for: names.count + 1).last?.error?.domain == NSCocoaErrorDomain)
    }
}
