import Foundation
import Testing
import afnet

/// What is loaded only if it has changed, and what becomes of files. Runs one process at a time, because other tests measure
/// the machine.
@Suite(.serialized) struct ConditionTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        let dated = ServerReply.text("dated").header("Last-Modified", "Sat, 01 Jan 2022 10:00:00 GMT")
        server.route("GET", "/dated", dated)
        server.route("GET", "/etag", ServerReply.text("tagged").header("ETag", "W/\"abc\""))
        server.route("GET", "/same", .status(304))
        server.route("GET", "/gone", .text("gone").status(404))
        server.route("GET", "/slow", ServerReply.text("12345").stalling(after: 2))
        server.route("*", "/x", .text("plain"))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06 Nov 1994 08:49:37 +0200", 784_104_577),
            ("12 Sep 2004 15:05:58 -0700", 1_095_026_758), ("Nov 6 2004 EST", 1_099_717_200),
            ("20200101", 1_577_836_800),
            ("1 Jan 2020", 1_577_836_800), ("29 feb 2000 23:59:60", 951_868_800), ("2020-01-01", nil), ("now", nil),
            ("", nil),
            ("1 Jan", nil), ("12:00", nil), ("32 Jan 2020", nil), ("1 Jan 2020 25:00", nil), ("99999999999", nil),
            ("1 Jan 2020 1 1", nil), ("1 Foo 2020", nil), ("1 Jan 2020 +0100 +0100", nil), ("😀", nil),
            ("20209901", nil),
        ] as [(String, Int?)]
    )
    func `dates are read as curl reads them`(text: String, seconds: Int?) {
        #expect(LooseDate(text).map { Int($0.date.timeIntervalSince1970) } == seconds)
    }

    @Test func `--time-cond asks, and drops what a server sends all the same`() async throws {
        let old = try await Program.run("-z", "1 Jan 2023", url("/dated"))
        let new = try await Program.run("--time-cond", "1 Jan 2021", url("/dated"))
        let kept = try await Program.run("-z", "-1 Jan 2023", url("/dated"))
        let changed = try await Program.run("-z", "-1 Jan 2021", url("/dated"))

        #expect([old, new, kept, changed].map(\.text) == ["", "dated", "dated", ""])
        #expect([old, new, kept, changed].allSatisfy { $0.code == 0 })
        #expect(server.requests[0].headers["If-Modified-Since"] == "Sun, 01 Jan 2023 00:00:00 GMT")
        #expect(server.requests[3].headers["If-Unmodified-Since"] == "Fri, 01 Jan 2021 00:00:00 GMT")
    }

    @Test func `a file that is not there is loaded, and next time its date counts`() async throws {
        let file = folder.path("f")
        let first = try await Program.run("-R", "-z", file, "-o", file, url("/dated"))
        #expect(first.code == 0 && first.errors.contains("neither a date nor a file"))
        #expect(folder.contents("f") == Data("dated".utf8))
        let time = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        #expect(time?.timeIntervalSince1970 == 1_641_031_200)

        #expect(try await Program.run("-z", file, url("/dated")).text == "")
        #expect(server.requests[1].headers["If-Modified-Since"] == "Sat, 01 Jan 2022 10:00:00 GMT")
    }

    @Test func `--etag-save keeps the ETag for --etag-compare`() async throws {
        let file = folder.path("e")
        #expect(try await Program.run("--etag-compare", file, url("/etag")).code == 26)
        #expect(try await Program.run("--etag-compare", file, "--etag-save", file, url("/etag")).text == "tagged")
        #expect(folder.contents("e") == Data("W/\"abc\"\n".utf8))
        #expect(try await Program.run("--etag-compare", file, "--etag-save", file, url("/same")).code == 0)
        #expect(folder.contents("e") == Data("W/\"abc\"\n".utf8))
        #expect(try await Program.run("--etag-save", file, "-f", url("/gone")).code == 22)
        #expect(folder.contents("e") == Data("W/\"abc\"\n".utf8))
        #expect(try await Program.run("--etag-save", file, url("/x")).code == 0 && folder.contents("e") == Data())
        #expect(try await Program.run("--etag-save", folder.path("no/e"), url("/etag")).code == 26)

        #expect(server.requests.map { $0.headers["If-None-Match"] } == ["\"\"", "W/\"abc\"", nil, nil])
        server.route("GET", "/blank", ServerReply.text("x").header("ETag", ""))
        #expect(try await Program.run("--etag-save", file, url("/blank")).code == 0 && folder.contents("e") == Data())
    }

    @Test func `the file of --output stays as it is if there is nothing new`() async throws {
        let file = try folder.make("f", Data("mine".utf8))
        server.route("GET", "/unchanged", .status(304))
        for options in [["-z", "1 Jan 2023", url("/dated")], ["-H", "If-None-Match: \"a\"", url("/unchanged")]] {
            #expect(try await Program.run(["-o", file] + options).code == 0)
            #expect(folder.contents("f") == Data("mine".utf8), "\(options)")
        }
        #expect(try await Program.run("-i", "-o", file, url("/unchanged")).code == 0)
        #expect(folder.contents("f")?.starts(with: Data("HTTP/1.1 304 ".utf8)) == true)
    }

    @Test func `--no-clobber makes another file, and --remove-on-error leaves none`() async throws {
        let file = try folder.make("f", Data("mine".utf8))
        for _ in 0..<2 { #expect(try await Program.run("--no-clobber", "-o", file, url("/x")).code == 0) }
        #expect(folder.contents("f") == Data("mine".utf8))
        #expect(folder.contents("f.1") == Data("plain".utf8) && folder.contents("f.2") == Data("plain".utf8))

        let other = folder.path("g")
        #expect(try await Program.run("-m", "0.3", "-o", other, url("/slow")).code == 28 && folder.contents("g") != nil)
        let run = try await Program.run("-m", "0.3", "--remove-on-error", "-o", other, url("/slow"))
        #expect(run.code == 28 && folder.contents("g") == nil && !run.errors.contains("kept"))
        #expect(try await Program.run("-m", "0.3", "--remove-on-error", "-o", "/dev/null", url("/slow")).code == 28)
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
    }

    @Test func `--speed-limit gives up a transfer that is too slow`() async throws {
        let run = try await Program.run("--speed-limit", "1000", "--speed-time", "0.5", url("/slow"))
        #expect(run.code == 28 && run.errors.contains("fewer than 1000 bytes in a second"))
        #expect(try await Program.run("-Y", "1", "-y", "0.5", url("/x")).code == 0)
    }

    @Test func `--rate keeps URLs apart`() async throws {
        let start = ContinuousClock.now
        #expect(try await Program.run("--rate", "4/s", url("/x"), url("/x"), url("/x")).text == "plainplainplain")
        #expect(ContinuousClock.now - start >= .milliseconds(500))
    }

    @Test func `--stderr takes the messages`() async throws {
        let file = folder.path("err")
        let run = try await Program.run("--stderr", file, "http://127.0.0.1:1/")
        #expect(run.code == 7 && run.errors == "" && folder.contents("err")?.starts(with: Data("afnet: ".utf8)) == true)
        #expect(try await Program.run("--stderr", "-", "http://127.0.0.1:1/").text.hasPrefix("afnet: Connecting to"))
        #expect(try await Program.run("--stderr", folder.path("no/err"), url("/x")).code == 23)
    }

    @Test func `--trace-ascii has what was sent and received, without secrets`() async throws {
        let file = folder.path("trace")
        let run = try await Program.run("--trace-ascii", file, "-u", "me:secret", "-d", "a=b\r\nc", url("/x"))
        #expect(run.code == 0)
        let text = String(decoding: folder.contents("trace") ?? Data(), as: UTF8.self)
        #expect(text.hasPrefix("=> Send header, ") && text.contains("\n0000: POST /x HTTP/1.1\n"))
        #expect(
            text.contains("Authorization: Basic ***")
                && text.contains("=> Send data, 6 bytes (0x6)\n0000: a=b\n0005: c\n")
        )
        let status = "<= Recv header, 17 bytes (0x11)\n0000: HTTP/1.1 200 OK\n"
        #expect(text.contains(status) && text.hasSuffix("<= Recv data, 5 bytes (0x5)\n0000: plain\n"))
        #expect(try await Program.run("--trace", "-", url("/x")).text.contains("0000: 47 45 54 20 2f 78 20 48 "))
        #expect(try await Program.run("--trace", folder.path("no/trace"), url("/x")).code == 23)
    }

    @Test func `a dump has 64 characters to a line, or 16 bytes`() {
        let text = String(repeating: "x", count: 70) + "\r\n\r\ny\u{1}"
        #expect(
            WireDump.lines(Array(text.utf8))
                == "0000: \(String(repeating: "x", count: 64))\n0040: xxxxxx\n0048: \n004a: y.\n"
        )
        #expect(WireDump.bytes(Array("AB\n".utf8)) == "0000: 41 42 0a \(String(repeating: "   ", count: 13))AB.\n")
        #expect(WireDump.lines([]) == "" && WireDump.bytes([]) == "")
    }

    @Test func `-4 and -6 connect to addresses of that kind only`() async throws {
        let local = "http://localhost:\(server.port)/x"
        #expect(try await Program.run("-4", local).text == "plain")
        let other = try await Program.run("-6", "--noproxy", "*", url("/x"))
        #expect(other.code == 7 && other.errors.contains("it has no address for --ipv4 or --ipv6"))
        #expect(try await Program.run("-6", "-4", url("/x")).code == 0)
    }

    @Test func `--interface says where connections are made from`() async throws {
        let from = ["-w", "|%{local_ip}", url("/x")]
        #expect(try await Program.run(["--interface", "127.0.0.9"] + from).text == "plain|127.0.0.9")
        #expect(try await Program.run(["--interface", "if!lo"] + from).text == "plain|127.0.0.1")
        #expect(try await Program.run(["--interface", "host!127.0.0.8"] + from).text == "plain|127.0.0.8")
        let none = try await Program.run(["--interface", "no-such-link"] + from)
        #expect(none.code == 45 && none.errors.contains("no-such-link"))
        #expect(try await Program.run(["--interface", "192.0.2.1"] + from).code == 7)
        let local = "http://localhost:\(server.port)/x"
        #expect(try await Program.run("--keepalive-time", "5", "--no-keepalive", "--keepalive", local).text == "plain")
    }

    @Test func `the coding none is none`() async throws {
        server.route("GET", "/none", ServerReply.text("as it is").header("Content-Encoding", "None"))
        server.route("GET", "/other", ServerReply.text("x").header("Content-Encoding", "compress"))
        #expect(try await Program.run("--compressed", url("/none")).text == "as it is")
        #expect(try await Program.run("--compressed", url("/other")).code == 61)
    }
}
