import AFNetworkingTesting
import Foundation
import Testing

/// All examples together.
@Suite struct ExamplesTests {
    /// Those that need no server but their own.
    private static let selfContained = ["PinnedClient", "Downloader", "LinkChecker", "PinRotation", "TestingYourCode"]

    @Test(arguments: selfContained)
    func `an example without arguments shows something and needs no internet`(_ name: String) async throws {
        let run = try await Example.run(name)

        #expect(run.code == 0, "\(run.output)")
        #expect(run.lines.count > 3, "\(run.output)")
        #expect(!run.output.contains("PRIVATE KEY"))
        #expect(run.errors == "")
    }

    @Test func `the shortest program prints a status, and nothing on standard error`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("hello"))

        let run = try await Example.run("FirstRequest", [server.url("/").absoluteString])

        #expect(run.code == 0)
        #expect(run.lines == ["200"])
        #expect(run.errors == "")
    }

    @Test func `the page about the examples has a row for each`() throws {
        let text = try String(contentsOf: Example.folder.appendingPathComponent("README.md"), encoding: .utf8)
        let folders = try FileManager.default.contentsOfDirectory(atPath: Example.folder.path)
            .filter { !$0.contains(".") && $0 != "Tests" }

        let missing = folders.filter { !text.contains("| [\($0)](\($0)) |") }

        #expect(folders.count >= 8)
        #expect(missing == [])
    }
}
