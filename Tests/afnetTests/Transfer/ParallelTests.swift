import Foundation
import Glibc
import Testing

/// URLs that are loaded in parallel. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) final class ParallelTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("GET", "/late", ServerReply.text("late").held(until: "go"))
        server.route("GET", "/n/:name") { .text("<\($0.parameters["name"] ?? "")>") }
        server.route("GET", "/gone", .text("gone").status(404))
        server.route("GET", "/stall", ServerReply.text("12345").stalling(after: 2))
        server.route("GET", "/big", .stream(.repeating("abcdefg", count: 3_000_000)))
        server.route("GET", "/release") { [weak server] _ in
            server?.signal("go")
            return .text("released")
        }
    }

    deinit {
        server.stop()
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    @Test func `transfers run at the same time, and standard output stays in order`() async throws {
        // The server answers the first after the last: one after the other, this would never end.
        let run = try await Program.run(
            "-Z",
            "-w",
            "[%{urlnum}]",
            url("/late"),
            url("/n/1"),
            url("/big"),
            url("/n/3"),
            url("/release")
        )

        let big = String(repeating: "abcdefg", count: 3_000_000 / 7) + "abcde".prefix(3_000_000 % 7)
        #expect(run.code == 0 && run.errors == "")
        #expect(run.text == "late[0]<1>[1]\(big)[2]<3>[3]released[4]")
    }

    @Test func `descriptors that run out fail URLs, and do not end the process`() async throws {
        server.route("GET", "/slow", ServerReply.text("slow").delayed(by: .seconds(2)))
        let words = ["-sS", "-Z", "--parallel-max", "150", "-o", "/dev/null", url("/slow") + "?[1-150]"]
        // The leak sanitizer needs descriptors of its own.
        let run = try await Program.run(inShell: "ulimit -n 64; ASAN_OPTIONS=detect_leaks=0 exec \"$@\"", words)

        // The file for a body takes a descriptor, too.
        #expect(
            [7, 23].contains(run.code) && run.errors.contains("errno 24. Allow more open files"),
            "\(run.errors.prefix(300))"
        )
    }

    @Test(.enabled(if: getuid() != 0, "the limit does not hold for root"))
    func `a process that may have no threads says so`() async throws {
        let run = try await Program.run(inShell: "ulimit -u 1; exec \"$@\"", [url("/n/1")])
        #expect(run.code == 7 && run.errors.contains("no thread can be started"))
    }

    @Test func `no more bodies wait than the process may have open files`() async throws {
        server.route("GET", "/slow", ServerReply.text("slow").delayed(by: .seconds(3)))
        // Two hundred quick transfers could finish before it.
        let words = ["-Z", "--parallel-max", "8", url("/slow")] + (0..<200).map { url("/n/\($0)") }

        let run = try await Program.run(inShell: "ulimit -n 160; exec \"$@\"", words)

        #expect(run.code == 0 && run.errors == "")
        #expect(run.text == "slow" + (0..<200).map { "<\($0)>" }.joined())
    }

    @Test func `each body has its file`() async throws {
        let words = (0..<20).flatMap { ["-o", folder.path("\($0)"), url("/n/\($0)")] }

        #expect(try await Program.run(["-Z", "--parallel-max", "3"] + words).code == 0)

        #expect((0..<20).allSatisfy { folder.contents("\($0)") == Data("<\($0)>".utf8) })
        #expect(server.acceptedConnections <= 3)
    }

    @Test func `the code is that of the URL that failed last`() async throws {
        let run = try await Program.run("-Z", "-f", url("/gone"), url("/n/1"), "ftp://h/")

        #expect([1, 22].contains(run.code) && run.text == "<1>")
        #expect(run.errors.contains("afnet: \(url("/gone")): the server answered 404"))
        #expect(try await Program.run("-Z", "-f", url("/gone"), url("/n/1")).code == 22)
    }

    @Test func `--verbose has the number of the URL`() async throws {
        let run = try await Program.run("-Z", "-v", url("/n/1"), url("/n/2"))

        #expect(run.errors.contains("[0] > GET /n/1 HTTP/1.1\n") && run.errors.contains("[1] > GET /n/2 HTTP/1.1\n"))
    }

    @Test func `--fail-early does not wait for the next try of another`() async throws {
        server.route("GET", "/busy", ServerReply.status(503))
        server.route("GET", "/after", ServerReply.status(404).delayed(by: .milliseconds(300)))

        let run = try await Program.run(
            "-Z",
            "--fail-early",
            "-f",
            "--retry",
            "1",
            "--retry-delay",
            "500",
            url("/busy"),
            url("/after")
        )

        #expect(run.code == 22)
    }

    @Test func `--fail-early stops, one after the other and at the same time`() async throws {
        let serial = try await Program.run("--fail-early", "-f", url("/n/1"), url("/gone"), url("/n/2"))
        #expect(serial.code == 22 && serial.text == "<1>")
        let groups = try await Program.run("--fail-early", "-f", url("/gone"), "--next", url("/n/2"))
        #expect(groups.code == 22 && groups.text == "")

        let parallel = try await Program.run("-Z", "--fail-early", "-f", "-m", "100", url("/stall"), url("/gone"))
        #expect(parallel.code == 22 && parallel.errors.components(separatedBy: "afnet: ").count == 2)
    }
}
