import AFFaults
import Foundation
import Testing

/// The same command lines by curl and by afnet: exit code, standard output, files, and what the server gets. Runs one process
/// at a time, because other tests measure the machine.
@Suite(.serialized) struct CurlComparisonTests {
    private static let curl = "/usr/bin/curl"

    let server: TestServer

    init() throws {
        server = try TestServer()
        let moved = ServerReply.text("moved\n").header("Location", "/x")
        server.route("*", "/redir", moved.status(302))
        server.route("*", "/303", moved.status(303))
        server.route("*", "/304", .status(304))
        server.route("*", "/status/:code") { request in
            ServerReply.text("status\n").status(Int(request.parameters["code"] ?? "") ?? 500)
        }
        server.route("*", "/gz", ServerReply.text("hello\n").compressed(.gzip))
        server.route("*", "/none", ServerReply.text("plain\n").header("Content-Encoding", "none"))
        server.route("*", "/cookie", ServerReply.text("cookie\n").header("Set-Cookie", "a=b; Path=/"))
        server.route(
            "*",
            "/cd",
            ServerReply.text("cd\n").header("Content-Disposition", "attachment; filename=\"named.txt\"")
        )
        server.route("*", "/lm", ServerReply.text("lm\n").header("Last-Modified", "Sat, 01 Jan 2022 10:00:00 GMT"))
        server.route("*", "/etag", ServerReply.text("etag\n").header("ETag", "W/\"abc\""))
        server.route("*", "/big", .stream(.repeating("x", count: 30_000)))
        server.route("*", "/auth") { request in
            guard request.headers["Authorization"] == nil else { return .text("in\n") }
            return ServerReply.text("out\n").status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
        }
        server.install(.ranges)
        server.route("*", "/*") { .text("body of \($0.target.uppercased())\n").header("Server", "t") }
    }

    /// What is compared.
    private struct Outcome: Equatable {
        var code: Int32
        var output: Data
        var files: [String: Data]
        var requests: [String]
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: curl)), .timeLimit(.minutes(10)))
    func `command lines do what curl does, but for those with a reason`() async throws {
        var (same, count) = (0, 0)
        // Other versions differ from this one here and there.
        let isReference = try Self.version().hasPrefix("curl 7.88.")
        for line in CommandLines.text.components(separatedBy: "\n") {
            let parts = line.components(separatedBy: "  # ")
            let reference = try await outcome(of: parts[0], by: Self.curl)
            let ours = try await outcome(of: parts[0], by: Program.path)
            count += 1
            if reference == ours { same += 1 }
            let isExpected = (reference == ours) == (parts.count == 1)
            #expect(isExpected || !isReference, "\(line)\n  curl  \(reference)\n  afnet \(ours)")
        }
        print("\(same) of \(count) command lines do the same as curl")
        #expect(same * 10 > count * 8)
        if isReference { #expect(try CurlPage.text.contains("\(same) of \(count) command lines")) }
    }

    private static func version() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        return String(
            decoding: try ChildProcess.answer(of: curl, ["--version"], environment: environment).output,
            as: UTF8.self
        )
    }

    private func outcome(of line: String, by program: String) async throws -> Outcome {
        let folder = try Program.Folder()
        for (name, text) in files { _ = try folder.make(name, Data(text.utf8)) }
        server.forgetRequests()
        var words = Self.words(line.replacing("PORT", with: "\(server.port)")).map { word in
            word.replacing(/^U:/, with: "http://127.0.0.1:\(server.port)").replacing(
                /^H:/,
                with: "127.0.0.1:\(server.port)"
            )
        }
        var environment = ["HOME": folder.url.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"]
        environment["LSAN_OPTIONS"] = ProcessInfo.processInfo.environment["LSAN_OPTIONS"]
        if let split = words.firstIndex(of: "|env") {
            for pair in words[(split + 1)...] {
                let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
                environment[sides[0]] = sides[1]
            }
            words = Array(words[..<split])
        }
        let run = try await run(program, words, in: folder, environment)
        return Outcome(code: run.code, output: run.output, files: try contents(of: folder), requests: requests)
    }

    private var files: [String: String] {
        [
            "f": "line 1\r\nline 2\n", "w": "%{http_code}\n-\n", "h": "A: b\nC: d\n", "e": "\"q\"\n", "part": "body",
            "heads.txt": "HTTP/1.1 200 OK\r\nSet-Cookie: k=v; Domain=127.0.0.1\r\nSet-Cookie: n=o\r\n\r\n",
            "jar": "127.0.0.1\tFALSE\t/\tFALSE\t0\tk\tv\n",
            "cfg": "url = \"\(server.url("/cfg").absoluteString)\"\n# x\nheader: \"X: y\"\n-d a=b\n",
        ]
    }

    /// Runs the program in the folder, with a line of a config file as standard input.
    private func run(
        _ program: String,
        _ words: [String],
        in folder: Program.Folder,
        _ environment: [String: String]
    ) async throws -> (code: Int32, output: Data) {
        let other = try Program.Folder()
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: other.make("output")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: other.make("errors")))
        let input = try FileHandle(
            forReadingFrom: URL(fileURLWithPath: other.make("input", Data("header: \"X: in\"\n".utf8)))
        )
        let code = try await ChildProcess.run(
            "/bin/sh",
            ["-c", "cd \"$0\" && exec \"$@\"", folder.url.path, program] + words,
            environment: environment,
            input: input.fileDescriptor,
            output: output.fileDescriptor,
            errors: errors.fileDescriptor
        )
        return (code, other.contents("output") ?? Data())
    }

    private func contents(of folder: Program.Folder) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            guard let data = folder.contents(path) else { continue }
            // The first lines of a jar name the program.
            let isJar = data.starts(with: Data("# Netscape".utf8))
            let lines = data.split(separator: UInt8(ascii: "\n")).filter {
                !$0.starts(with: Data("# ".utf8)) && !$0.isEmpty
            }
            files[path] = isJar ? Data(lines.joined(separator: [UInt8(ascii: "\n")])) : data
        }
        return files
    }

    /// What the server got, without what names the program, and what only speaks of the connection.
    private var requests: [String] {
        server.requests.map { request in
            let type = request.headers["Content-Type"] ?? ""
            let boundary = type.contains("multipart") ? type.components(separatedBy: "boundary=").last : nil
            let fields = request.headers.fields.filter { !Self.unseen.contains($0.name.lowercased()) }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
            let target = request.target.replacing(/%[0-9a-fA-F]{2}/) { $0.output.uppercased() }
            let text = "\(request.method) \(target)\n\(fields.joined(separator: "\n"))\n\n\(request.bodyText)"
            let isForm = boundary != nil
            return (boundary.map { text.replacing($0, with: "BOUNDARY") } ?? text)
                .replacing(/content-length: [0-9]+/) { isForm ? "content-length: form" : String($0.output) }
        }
        .sorted()
    }

    private static let unseen: Set<String> = [
        "user-agent", "expect", "connection", "proxy-connection", "accept-encoding", "proxy-authorization",
    ]

    /// The words of a line, as a shell splits it; nothing has a meaning in single quotes.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            case "\\" where !isQuoted: break
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}
