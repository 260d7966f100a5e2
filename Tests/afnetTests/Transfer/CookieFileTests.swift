import AFURLSession
import Foundation
import Testing
import afnet

/// The options about cookies, and cookie files. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct CookieFileTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.cookies)
        server.route(
            "*",
            "/set",
            ServerReply.text("set").header("Set-Cookie", "s=1").header("Set-Cookie", "k=2; Max-Age=999")
        )
        server.route("*", "/see", .text("see"))
    }

    private var set: String { server.url("/set").absoluteString }
    private var see: String { server.url("/see").absoluteString }

    private var sent: [String?] { server.requests.filter { $0.target == "/see" }.map { $0.headers["Cookie"] } }

    @Test func `cookies are off by default`() async throws {
        _ = try await Program.run(set, see)
        _ = try await Program.run("--cookies", set, see)

        #expect(sent == [nil, "s=1; k=2"])
    }

    @Test func `--cookie is sent unchanged`() async throws {
        _ = try await Program.run("-b", "b=2; a=1", see)
        _ = try await Program.run("--cookie", "b=2", "--cookie", "a==", see)

        _ = try await Program.run("--cookie", "c=1;d=\"x;y\"; flag", see)
        _ = try await Program.run("-H", "Cookie: e=1", "-H", "cookie: f=2", see)

        #expect(sent == ["b=2; a=1", "b=2; a==", "c=1;d=\"x;y\"; flag", "e=1; f=2"])
        #expect(try await Program.run("--cookie", "no-such-file", see).code == 0)
    }

    @Test func `the next run sends the cookies of the jar`() async throws {
        let jar = folder.path("jar")
        _ = try await Program.run("-c", jar, "-b", "extra=1", set, see)
        _ = try await Program.run("--cookie-file", jar, see)
        _ = try await Program.run("--cookie-file", jar, "-j", see)
        _ = try await Program.run("--cookie-file", folder.path("none"), see)

        #expect(sent == ["s=1; k=2; extra=1", "s=1; k=2", "k=2", nil])
        let text = String(decoding: folder.contents("jar") ?? Data(), as: UTF8.self)
        #expect(text.contains("127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t1\n") && !text.contains("extra"))
        let mode = try FileManager.default.attributesOfItem(atPath: jar)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(arguments: [[], ["--cookies"], ["--cookie-file", "/no/file"], ["-c", "/dev/null"]])
    func `--cookie stays with scheme, host and port, with a jar or without, T-RED-04`(options: [String]) async throws {
        let site = try SecuredSite()
        site.server.route("*", "/*", ServerReply.status(302).header("Location", see))
        server.route("GET", "/here", ServerReply.status(302).header("Location", see))
        let words = options + ["--cacert", site.root, "-b", "sid=secret", "--cookie", "b=2"]

        _ = try await Program.run(words + ["-L", site.url])
        _ = try await Program.run(words + ["-L", server.url("/here").absoluteString])
        _ = try await Program.run(words + ["--location-trusted", site.url])

        #expect(sent == [nil, "sid=secret; b=2", "sid=secret; b=2"])
        #expect(site.server.requests.map { $0.headers["Cookie"] } == ["sid=secret; b=2", "sid=secret; b=2"])
    }

    @Test func `--cookie removes nothing from the jar`() async throws {
        let line = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tkept\n"
        let file = try folder.make("file", Data(line.utf8))

        let run = try await Program.run("--cookie-file", file, "-c", folder.path("jar"), "--cookie", "sid=mine", see)

        #expect(run.code == 0 && sent == ["sid=kept; sid=mine"])
        #expect(String(decoding: folder.contents("jar") ?? Data(), as: UTF8.self).hasSuffix("\n\(line)"))
    }

    @Test func `a jar that cannot be written is 23, a file that cannot be read is 26`() async throws {
        #expect(try await Program.run("-c", folder.path("no/jar"), see).code == 23)
        #expect(try await Program.run("--cookie-file", folder.url.path, see).code == 26)
    }

    @Test func `a jar that cannot be written does not change the reports of the URLs`() async throws {
        let run = try await Program.run("--report", folder.path("report"), "-c", folder.path("no/jar"), see, see)

        let lines = try #require(folder.contents("report")).split(separator: UInt8(ascii: "\n"))
        #expect(run.code == 23 && run.text == "seesee" && run.errors.components(separatedBy: "afnet: ").count == 2)
        #expect(lines.count == 2 && lines.allSatisfy { String(decoding: $0, as: UTF8.self).contains("\"exitcode\":0") })
    }

    @Test func `no cookies stay in another file when there is no room for the jar`() async throws {
        let jar = try folder.make("jar", Data("# former\n".utf8))

        // A file size limit of 0 acts like a full disk. The thread sanitizer ends a program whose temporary files it
        // cannot fill, and does without them if there is no folder for them.
        let limited = "trap '' XFSZ; ulimit -f 0; TMPDIR=/nowhere exec \"$@\""
        let run = try await Program.run(inShell: limited, ["-c", jar, "-o", "/dev/null", set])

        #expect(run.code == 23 && server.requests.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["jar"])
        #expect(folder.contents("jar") == Data("# former\n".utf8))
    }

    @Test func `--next keeps the cookies and forgets the options`() async throws {
        let run = try await Program.run("--cookies", "-H", "X-Mine: 1", set, "--next", "--cookies", see, "--next", see)

        #expect(run.code == 0 && sent == ["s=1; k=2", nil])
        #expect(server.requests.map { $0.headers["X-Mine"] } == ["1", nil, nil])
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func `a cookie that a server has set in the run is newer than that of a file`() async throws {
        let line = "127.0.0.1\tFALSE\t/\tFALSE\t0\t"
        try Data("\(line)s\told\n\(line)o\tother\n".utf8).write(to: folder.url.appending(path: "old"))
        let old = folder.path("old")
        let run = try await Program.run(
            ["--cookie-file", old, see, "--next", "--cookie-file", old, set]
                + ["--next", "--cookie-file", old, "-c", folder.path("jar"), see]
        )

        #expect(run.code == 0)
        let names = sent.map { Set(($0 ?? "").split(separator: "; ").map(String.init)) }
        #expect(names == [["s=old", "o=other"], ["s=1", "k=2", "o=other"]])
        #expect(String(decoding: folder.contents("jar") ?? Data(), as: UTF8.self).contains("\ts\t1\n"))
    }

    // MARK: The format

    @Test func `every kind of line is read, and others are ignored`() throws {
        let text = """
            # Netscape HTTP Cookie File
            #HttpOnly_.example.com\tTRUE\t/a\tTRUE\t4102444800\tname\tvalue with = and ;x
            www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
            www.example.com\tFALSE\t/\tFALSE\t0\tnothing
            too\tfew\tfields
            a.example\tFALSE\t/\tFALSE\tsoon\tname\tvalue

            """
        let cookies = CookieText.cookies(in: Data(text.replacing(" and ;x", with: "").utf8))

        #expect(cookies.map(\.name) == ["name", "empty", "nothing"])
        #expect(cookies.map(\.domain) == [".example.com", "www.example.com", "www.example.com"])
        #expect(cookies.map(\.isHTTPOnly) == [true, false, false] && cookies.map(\.isSecure) == [true, false, false])
        #expect(cookies.map(\.isSessionOnly) == [false, true, true] && cookies[0].path == "/a")
    }

    @Test func `heads that were saved are a file of cookies, too`() throws {
        let text = """
            HTTP/1.1 200 OK
            Set-Cookie: a=1; Domain=.example.com; Path=/x; Secure; HttpOnly
            set-cookie: b=2; domain=127.0.0.1
            Set-Cookie: of=nobody; Path=/
            Set-Cookie: c=3; Domain=com

            """
        let cookies = CookieText.cookies(in: Data(text.utf8))

        // A public suffix gets its own cookie, and no host below it does.
        #expect(cookies.map(\.name) == ["a", "b", "c"] && cookies.map(\.value) == ["1", "2", "3"])
        #expect(cookies[2].domain == "com")
        #expect(cookies[0].domain == ".example.com" && cookies[0].path == "/x" && cookies[0].isSecure)
        #expect(cookies[1].domain == "127.0.0.1" && cookies[1].path == "/" && !cookies[1].isSecure)
    }

    @Test func `cookies that are written are read back`() throws {
        let text = """
            #HttpOnly_.example.com\tTRUE\t/a\tTRUE\t4102444800\tname\tvalue
            www.example.com\tFALSE\t/\tFALSE\t0\tempty\t

            """
        let written = CookieText.text(of: CookieText.cookies(in: Data(text.utf8)))

        #expect(String(decoding: written, as: UTF8.self).hasSuffix(text))
    }

    @Test func `every byte that a cookie may have is written and read back`() throws {
        let bytes = (UInt8.min...UInt8.max).filter { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
        let name = bytes.filter { $0 != UInt8(ascii: "=") && $0 > 0x20 }
        var line = Array("a.example\tFALSE\t/".utf8)
        line.append(0xE9)
        line += "\tFALSE\t0\t".utf8
        line += name
        line += "\tx".utf8
        line += bytes
        line += "x\n".utf8
        // A tab with a combining sign behind it is a tab all the same.
        let combined = Array("a.example\tFALSE\t/\tFALSE\t0\tn\t\u{301}v\n".utf8)
        let cookies = CookieText.cookies(in: Data(line + combined))

        #expect(cookies.count == 2)
        #expect(CookieText.text(of: cookies).suffix(line.count + combined.count) == Data(line + combined))
    }

    @Test func `bytes that are no UTF-8 come back from the jar as they came from the server`() async throws {
        let values = [[0xE9], Array("\u{E9}".utf8), [0x80, 0xFF, 0xC3]] as [[UInt8]]
        var reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".utf8)
        var expected = Array("Cookie: ".utf8)
        for (number, value) in values.enumerated() {
            reply += "Set-Cookie: n\(number)=".utf8
            reply += value
            reply += "; Max-Age=999\r\n".utf8
            expected += "\(number == 0 ? "" : "; ")n\(number)=".utf8
            expected += value
        }
        reply += "\r\n".utf8
        server.route("GET", "/bytes", .raw(bytes: reply))
        let jar = folder.path("jar")

        _ = try await Program.run("-c", jar, server.url("/bytes").absoluteString, see)
        _ = try await Program.run("--cookie-file", jar, "-c", folder.path("next"), see)
        _ = try await Program.run("--cookie-file", folder.path("next"), see)

        let heads = server.requests.filter { $0.target == "/see" }.map(\.rawHead)
        #expect(heads.count == 3)
        for head in heads {
            let lines = head.split(separator: UInt8(ascii: "\n")).map { Data($0.filter { $0 != UInt8(ascii: "\r") }) }
            #expect(lines.contains(Data(expected)), "\(lines)")
        }
    }
}
