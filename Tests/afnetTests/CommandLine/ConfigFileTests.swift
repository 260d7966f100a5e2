import Foundation
import Testing
import afnet

/// Options from files. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct ConfigFileTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("*", "/*", .text("answer"))
    }

    private var url: String { server.url("/x").absoluteString }

    private func parsed(_ lines: String...) throws -> [Arguments] {
        let file = try folder.make("config", Data(lines.joined(separator: "\n").utf8))
        return try Arguments.groups(["-K", file])
    }

    @Test func `a line is an option, with or without dashes, and its value behind one of three signs`() throws {
        let groups = try parsed(
            "# a remark",
            "",
            "url = http://h/",
            "  --header: \"A: \\\"b\\\"\\t\\\\\"",
            "-X PUT  # a remark",
            "silent",
            "-sd a=b",
            "user-agent = two words",
            "no-location",
            "-ofile",
            "next",
            "url=other",
            "data = \"\""
        )
        let same = try Arguments.groups([
            "http://h/", "--header", "A: \"b\"\t\\", "-X", "PUT", "-s", "-d", "a=b", "-A", "two", "-ofile", "--next",
            "other", "-d",
            "",
        ])
        #expect(groups == same)
    }

    @Test(arguments: [
        ("url\nsilent", 1, "--url needs a value"), ("silent yes", 1, "--silent has no value"),
        ("-s yes", 1, "-s has no value"),
        ("\n-X", 2, "-X needs a value"), ("ouput = f", 1, "there is no option --ouput; did you mean --output?"),
        ("ftp-pasv", 1, "--ftp-pasv is an option of curl that afnet refuses"),
    ])
    func `a line that cannot be read is named, and nothing is sent`(text: String, line: Int, reason: String)
        async throws
    {
        let file = try folder.make("config", Data("\(text)\n".utf8))
        let run = try await Program.run("-K", file, url)
        #expect(run.code == 2 && run.errors.hasPrefix("afnet: \(file), line \(line): \(reason)"))
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a file may be standard input, may be missing, and may not name itself for ever`() async throws {
        #expect(try await Program.run(["-K", "-"], input: Data("url = \(url)\n".utf8)).text == "answer")
        #expect(try await Program.run("-K", folder.path("none"), url).code == 26)
        let file = folder.path("config")
        _ = try folder.make("config", Data("-K \(file)\n-K \(file)\n".utf8))
        #expect(try await Program.run("-K", file, url).code == 2)
    }

    @Test func `the user's file holds for transfers, unless -q is the first option`() async throws {
        _ = try folder.make(".afnetrc", Data("user-agent = mine\n".utf8))
        let home = ["HOME": folder.url.path]
        for words in [[url], ["-q", url], ["-qs", url], ["--disable", url], [url, "--next", url], ["get", url]] {
            _ = try await Program.run(words, environment: home)
        }
        let agents = server.requests.map { $0.headers["User-Agent"] == "mine" }
        #expect(agents == [true, false, false, false, true, false, false])
        _ = try folder.make(".afnetrc", Data("nonsense\n".utf8))
        #expect(try await Program.run([url], environment: home).code == 2)
        #expect(try await Program.run(["events", "--once", url], environment: home).code == 1)
    }

    @Test func `words of a file are blanked nowhere`() throws {
        let file = try folder.make("config", Data("user = a:secret\n".utf8))
        var rest = WordQueue(["-K", file, "-u", "b:c", "h"])
        _ = try Arguments.groups(&rest)
        #expect(rest.secrets.map(\.word) == [3])
    }
}
