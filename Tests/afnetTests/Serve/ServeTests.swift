import Foundation
import Testing

/// `afnet serve` and `afnet reach`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) final class ServeTests {
    let folder: Program.Folder
    private let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })

    init() throws {
        folder = try Program.Folder()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.path("public/sub"), withIntermediateDirectories: true)
        try files.createDirectory(atPath: folder.path("public/page"), withIntermediateDirectories: true)
        _ = try folder.make("secret", Data("secret".utf8))
        _ = try folder.make("public/a & <b>.txt", Data("text".utf8))
        _ = try folder.make("public/big.bin", bytes)
        _ = try folder.make("public/page/index.html", Data("<p>index".utf8))
        try files.createSymbolicLink(atPath: folder.path("public/out"), withDestinationPath: folder.path("secret"))
        try files.createSymbolicLink(atPath: folder.path("public/up"), withDestinationPath: folder.url.path)
        try files.createSymbolicLink(atPath: folder.path("public/in"), withDestinationPath: "big.bin")
    }

    /// A server and its URL.
    private func serve(_ options: String...) async throws -> (Program.Running, String) {
        let server = try Program.begin(["serve"] + options + [folder.path("public")])
        let words = try await server.firstLine().components(separatedBy: " at ")
        return (server, String(try #require(words.last).prefix { $0 != "," }))
    }

    @Test func `files, ranges, heads and pages are served`() async throws {
        let (server, root) = try await serve()

        let whole = try await Program.run("-i", "\(root)big.bin")
        #expect(whole.output.suffix(bytes.count) == bytes && whole.text.contains("application/octet-stream\r\n"))
        #expect(try await Program.run("-r", "100-199", "\(root)in").output == bytes[100..<200])
        #expect(try await Program.run("-r", "-5", "\(root)big.bin").output == bytes.suffix(5))
        let both = try await Program.run("-i", "-r", "0-1,3-3", "\(root)a%20%26%20%3Cb%3E.txt").text
        #expect(both.contains("multipart/byteranges") && both.contains("\r\nContent-Range: bytes 0-1/4\r\n\r\nte\r\n"))
        #expect(try await Program.run("-r", "200000-", "-w", "%{http_code}", "\(root)big.bin").text == "416")
        let head = try await Program.run("-I", "\(root)a%20%26%20%3Cb%3E.txt")
        #expect(head.text.contains("Content-Length: 4\r\n") && head.text.contains("text/plain; charset=utf-8"))
        let file = try folder.make("part", bytes.prefix(1000))
        #expect(try await Program.run("-C", "-", "-o", file, "\(root)big.bin").code == 0)
        #expect(folder.contents("part") == bytes)

        let tag = try await Program.run("-s", "-o", "/dev/null", "-w", "%header{etag}", "\(root)big.bin").text
        let same = try await Program.run("-H", "If-None-Match: \(tag)", "-w", "%{http_code}", "\(root)big.bin")
        #expect(tag.hasPrefix("\"") && same.text == "304")

        let page = try await Program.run(root).text
        #expect(page.contains("<a href=\"./a%20%26%20%3Cb%3E.txt\">a &amp; &lt;b&gt;.txt</a>"))
        #expect(try await Program.run("-L", "\(root)page").text == "<p>index")
        #expect(try await Program.run("\(root)sub/").text.contains("../"))
        #expect(try await Program.run("-w", "%{http_code}", "-d", "a", root).text == "only GET and HEAD\n405")

        #expect(try await server.interrupt() == 0)
        #expect(server.errors.hasPrefix("GET /big.bin 200 200000\nGET /in 206 100\n"))
        #expect(server.errors.contains("\nHEAD /a%20%26%20%3Cb%3E.txt 200\n"))
    }

    @Test func `nothing outside of the folder is served`() async throws {
        let (server, root) = try await serve("-s")
        let port = try #require(URL(string: root)?.port)

        for path in [
            "/out", "/up/secret", "/up/", "/../secret", "/sub/../../secret", "/%2e%2e/secret", "/%2e%2e%2fsecret",
            "/sub/%2E%2E/%2e%2e/secret", "//secret", "/public/../secret", "/big.bin/", "/big.bin%00", "/%",
        ] {
            let answer = try Self.answer(
                to: "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                port: port
            )
            #expect(answer.hasPrefix("HTTP/1.1 404 ") && !answer.contains("secret"), "\(path)")
        }
        let moved = try Self.answer(
            to: "GET //sub HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            port: port
        )
        #expect(moved.contains("\r\nLocation: /sub/\r\n"))

        #expect(try await server.interrupt() == 0)
        #expect(server.errors == "")
    }

    @Test func `T-FIL-30 a request for a host of another site gets nothing`() async throws {
        let (server, root) = try await serve("-s", "--host", "Files.Test")
        let port = try #require(URL(string: root)?.port)
        func status(_ head: String) throws -> Substring {
            try Self.answer(to: "\(head)\r\nConnection: close\r\n\r\n", port: port).prefix(12).suffix(3)
        }

        for host in [
            "localhost", "LocalHost:\(port)", "localhost.", "a.localhost:1", "127.0.0.1:\(port)", "127.1.2.3",
            "[::1]:80",
            "files.test", "FILES.test.:\(port)",
        ] {
            #expect(try status("GET /page/ HTTP/1.1\r\nHost: \(host)") == "200", "\(host)")
        }
        for host in [
            "evil.test", "evil.test:\(port)", "localhost.evil.test", "evillocalhost", "192.168.0.1", "128.0.0.1", "",
            "[::2]", "user@localhost", "localhost/", "evil.test#localhost", "localhost, evil.test", "a.files.test",
        ] {
            #expect(try status("GET /page/ HTTP/1.1\r\nHost: \(host)") == "421", "\(host)")
        }
        #expect(try status("GET http://evil.test/page/ HTTP/1.1\r\nHost: localhost") == "421")
        #expect(try status("GET http://localhost/page/ HTTP/1.1\r\nHost: localhost") == "200")
        #expect(try status("GET /page/ HTTP/1.0\r\nAccept: */*") == "200")
        #expect(try await Program.run("serve", "--host", "a:1", folder.path("public")).code == 43)

        #expect(try await server.interrupt() == 0)
    }

    /// Sends exactly these bytes: a client would normalize the path.
    private static func answer(to request: String, port: Int) throws -> String {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        let bytes = Array(request.utf8)
        try #require(send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var answer: [UInt8] = []
        while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test func `--tls makes an authority`() async throws {
        let (server, root) = try await serve("--tls", "--ca-out", folder.path("root.pem"), "--port", "0")

        #expect(root.hasPrefix("https://127.0.0.1:"))
        #expect(try await Program.run("--cacert", folder.path("root.pem"), "\(root)page/").text == "<p>index")
        #expect(try await Program.run("\(root)page/").code == 60)
        #expect(server.text.hasSuffix(", with --cacert \(folder.path("root.pem"))\n"))

        #expect(try await server.interrupt() == 0)
    }

    @Test func `the certificate of the authority is removed at the end`() async throws {
        let (server, root) = try await serve("--tls")
        let file = try #require(server.text.components(separatedBy: "--cacert ").last?.dropLast())
        #expect(try await Program.run("--cacert", String(file), "\(root)page/").text == "<p>index")

        #expect(try await server.interrupt() == 0)
        #expect(file.hasSuffix(".pem") && !FileManager.default.fileExists(atPath: String(file)))
    }

    @Test func `a signal that arrives before the first line ends it, too`() async throws {
        // The pipe is full, so that the server waits before it can write the line.
        let script = """
            mkfifo "$2/pipe" && exec 3<>"$2/pipe"
            dd if=/dev/zero of="$2/pipe" bs=4096 oflag=nonblock 2>/dev/null
            "$1" serve --tls --ca-out "$2/root.pem" "$2/public" >&3 & server=$!
            until [ -s "$2/root.pem" ]; do sleep 0.01; done
            kill -TERM $server
            cat <&3 >/dev/null & reader=$!
            wait $server; code=$?
            kill $reader
            exit $code
            """

        #expect(try await Program.run(inShell: script, [folder.url.path]).code == 0)
    }

    @Test func `the reason why a folder cannot be served is reported`() async throws {
        #expect(try await Program.run("serve", folder.path("none")).code == 43)
        #expect(try await Program.run("serve", folder.path("secret")).code == 43)
        let taken = try TestServer()
        #expect(try await Program.run("serve", "--port", "\(taken.port)", folder.path("public")).code == 7)
    }

    // MARK: reach

    @Test func `reach --once says whether a host is reachable`() async throws {
        let run = try await Program.run("reach", "--once", "127.0.0.1")

        #expect(run.code == 0 && run.text.hasSuffix("Z  reachable by lo\n"))
        #expect(try await Program.run("reach", "--once", "afnet.invalid").code == 7)
        #expect(try await Program.run("reach", "a b").code == 43)
    }

    @Test func `reach watches until it is interrupted`() async throws {
        let watch = try Program.begin(["reach", "127.0.0.1"])

        #expect(try await watch.firstLine().hasSuffix("Z  reachable by lo"))
        #expect(try await watch.interrupt() == 0)
        #expect(watch.text.filter(\.isNewline).count == 1)
    }
}
