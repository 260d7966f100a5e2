import Foundation
import Testing
import afnet

/// Files that several requests load: `--parts`.
@Suite(.serialized) struct PartsTests {
    private let server: TestServer
    private let folder: Program.Folder
    private let body = Data((0..<4_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        serve { $1 }
    }

    private func serve(_ change: @escaping @Sendable (Int, ServerReply) -> ServerReply) {
        let count = Watched(0)
        server.route("GET", "/file") { [body] request in
            count.change { $0 += 1 }
            return change(count.value, .file(body, entityTag: "\"one\"", to: request))
        }
    }

    private var url: String { server.url("/file").absoluteString }

    @Test func `--parts loads a file by several requests, and gives it the rights that other files get`() async throws {
        let file = folder.path("f")
        let run = try await Program.run("--parts", "4", "-o", file, url)
        #expect(run.code == 0 && run.text == "" && run.errors == "", "\(run)")
        #expect(folder.contents("f") == body && server.requests.count >= 3)
        let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(rights == 0o644 || rights == 0o664)
    }

    @Test func `--parts goes on with what a former run has left, and says where it is`() async throws {
        serve { number, reply in number <= 3 ? reply.resetting(after: 500_000) : .status(503) }
        let file = folder.path("f")
        let failed = try await Program.run("--parts", "3", "-o", file, url)
        #expect(failed.code != 0 && failed.errors.contains("is kept in \(file).parts"), "\(failed)")
        let before = server.requests.count
        serve { $1 }
        #expect(try await Program.run("--parts", "3", "-o", file, url).code == 0)
        #expect(folder.contents("f") == body && folder.contents("f.parts") == nil)
        #expect(server.requests.dropFirst(before).allSatisfy { $0.headers["Range"] != nil })
    }

    @Test func `--parts tries again, follows redirects and refuses what --proto-redir does not allow`() async throws {
        serve { number, reply in number == 1 ? .status(503) : reply }
        let file = folder.path("f")
        #expect(
            try await Program.run("--parts", "3", "--retry", "2", "--retry-delay", "0.1", "-o", file, url).code == 0
        )
        #expect(folder.contents("f") == body)
        server.route("GET", "/moved", ServerReply(status: 302).header("Location", "/file"))
        let moved = server.url("/moved").absoluteString
        #expect(try await Program.run("-L", "--parts", "3", "-o", folder.path("g"), moved).code == 0)
        #expect(folder.contents("g") == body)
        let refused = try await Program.run(
            "-L",
            "--proto-redir",
            "=https",
            "--parts",
            "3",
            "-o",
            folder.path("h"),
            moved
        )
        #expect(refused.code == 22 && folder.contents("h") == nil)
        #expect(try await Program.run("--parts", "3", "-o", folder.path("i"), moved).code == 22)
    }

    @Test func `--parts takes along what a redirect is to have`() async throws {
        server.route("GET", "/moved", ServerReply(status: 302).header("Location", "/file"))
        let moved = server.url("/moved").absoluteString
        let run = try await Program.run("-L", "-e", ";auto", "--parts", "3", "-o", folder.path("f"), moved)
        #expect(run.code == 0 && folder.contents("f") == body, "\(run)")
        let targets = server.requests.filter { $0.path == "/file" }
        #expect(!targets.isEmpty && targets.allSatisfy { $0.headers["Referer"] == moved })
    }

    @Test func `--parts answers a challenge, and reports a status`() async throws {
        server.route("GET", "/secret") { [body] request in
            request.headers["Authorization"] == "Basic bWU6eA=="
                ? .file(body, entityTag: "\"one\"", to: request)
                : ServerReply(status: 401).header("WWW-Authenticate", "Basic realm=\"x\"")
        }
        let secret = server.url("/secret").absoluteString
        for option in ["--basic", "--anyauth"] {
            let run = try await Program.run("--parts", "3", option, "-u", "me:x", "-o", folder.path("f"), secret)
            #expect(run.code == 0 && folder.contents("f") == body, "\(run)")
        }
        let run = try await Program.run("--parts", "3", "-o", folder.path("g"), secret)
        #expect(run.code == 22 && run.errors.contains("401") && folder.contents("g") == nil)
    }

    @Test(
        arguments: [
            ["--parts", "2"], ["--parts", "2", "-o", "-"], ["--parts", "0", "-o", "f"],
            ["--parts", "2", "-r", "0-1", "-o", "f"],
            ["--parts", "2", "-C", "-", "-o", "f"], ["--parts", "2", "-w", "x", "-o", "f"],
            ["--parts", "2", "-Y", "9", "-o", "f"],
            ["--parts", "2", "-d", "x", "-o", "f"],
            ["--parts", "2", "-I", "-o", "f"],
        ]
    )
    func `--parts refuses what is not for a whole file`(words: [String]) async throws {
        let run = try await Program.run(words + [url])
        #expect(run.code == 2 && run.errors.contains("--parts"))
        #expect(server.requests.isEmpty)
    }
}
