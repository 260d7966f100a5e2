import Foundation
import Testing

/// What `--verbose` shows and hides. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct SecretTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/x", ServerReply.text("body").header("Set-Cookie", "sid=canary4; Path=/"))
    }

    private func run(_ options: String...) async throws -> Program.Run {
        let place = "http://me:canary1@127.0.0.1:\(server.port)/x?access_token=canary2&page=1"
        return try await Program.run(
            options + [
                "-v", "-b", "a=canary3", "-H", "Proxy-Authorization: Basic canary5", "-H", "X-Api-Key: canary6", place,
            ]
        )
    }

    @Test func `--verbose shows no secret`() async throws {
        let run = try await run()

        #expect(run.code == 0 && !run.errors.contains("canary") && !run.errors.contains("bWU6"))
        for line in [
            "> GET /x?access_token=***&page=1 HTTP/1.1", "> Authorization: Basic ***", "> Cookie: a=***",
            "> Proxy-Authorization: Basic ***", "> X-Api-Key: ***", "< Set-Cookie: sid=***; Path=/",
        ] {
            #expect(run.errors.contains("\(line)\n"), "\(line)")
        }
        #expect(server.requests.first?.headers["Cookie"] == "a=canary3")
    }

    @Test func `--verbose shows no secret of a URL in a field, and no nonce`() async throws {
        server.route(
            "*",
            "/fields",
            ServerReply.text("body")
                .header("Link", "<http://me:canary@a.test/?token=canary&page=2>; rel=\"next\"")
                .header("Refresh", "9; url=/y?a=1;password=canary")
                .header("Authentication-Info", "nextnonce=\"canary\", qop=auth")
        )
        let place = "http://127.0.0.1:\(server.port)/fields?a=1;password=canary"
        let run = try await Program.run("-v", "-H", "Origin: http://me:canary@b.test", place)

        #expect(run.code == 0 && !run.errors.contains("canary"))
        for line in [
            "> GET /fields?a=1;password=*** HTTP/1.1", "> Origin: http://b.test",
            "< Refresh: 9; url=/y?a=1;password=***",
            "< Link: <http://a.test/?token=***&page=2>; rel=\"next\"", "< Authentication-Info: nextnonce=***, qop=auth",
        ] {
            #expect(run.errors.contains("\(line)\n"), "\(line)")
        }
    }

    // MARK: - The list of processes

    @Test(arguments: [
        ["-u", "me:canary"], ["-sume:canary"], ["--user", "me:canary"], ["--bearer", "canary"],
        ["--oauth2-bearer", "canary"], ["-H", "Authorization: Bearer canary"], ["-HX-Api-Key:canary"],
        ["-b", "a=canary"],
    ])
    func `T-AUT-20 the list of processes shows no password`(words: [String]) async throws {
        let marker = UUID().uuidString
        let seen = Watched<[String]>([])
        server.route("GET", "/list") { _ in
            seen.change { $0 = Processes.words(with: marker) }
            return .text("x")
        }

        let place = "http://you:canary@127.0.0.1:\(server.port)/list"
        let run = try await Program.run(["-A", marker] + words + [place])

        #expect(run.code == 0 && run.text == "x")
        let shown = seen.value
        #expect(shown.contains(marker) && shown.count == words.count + 4, "\(shown)")
        #expect(!shown.joined().contains("canary"), "\(shown)")
        #expect(shown.last == place.replacing("you:canary", with: "          "))
        #expect(
            server.requests.first?.headers.fields.contains { $0.value.contains("canary") || $0.name == "Authorization" }
                == true
        )
    }

    @Test func `--show-secrets shows them`() async throws {
        let run = try await run("--show-secrets")

        for secret in ["canary2", "canary3", "canary4", "canary5", "canary6", "Basic bWU6Y2FuYXJ5MQ=="] {
            #expect(run.errors.contains(secret), "\(secret)")
        }
    }

    @Test func `the error about a malformed URL does not show its password`() async throws {
        for words in [
            ["http://me:canary@a b/"], ["images", "http://me:canary@a b/"], ["-Z", "http://me:canary@h:x/"],
        ] {
            let run = try await Program.run(words)
            #expect(run.code == 3 && !run.errors.contains("canary") && run.errors.contains("http://"))
        }
    }
}

/// What every user of the machine can read.
private enum Processes {
    /// The words of the process that has this one among them.
    static func words(with marker: String) -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for number in numbers where Int32(number) != nil {
            guard let bytes = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { continue }
            let words = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) }
            if words.contains(marker) { return words }
        }
        return []
    }
}
