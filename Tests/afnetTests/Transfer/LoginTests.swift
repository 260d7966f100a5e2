import AFFaults
import Foundation
import Testing

/// Credentials for servers. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct LoginTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.basicAuthentication, .digestAuthentication, .redirects)
        server.route("*", "/open", .text("open"))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    private var authorizations: [String?] { server.requests.map { $0.headers["Authorization"] } }

    @Test func `--user is sent with the first request`() async throws {
        #expect(try await Program.run("-u", "me:pass:word", url("/open")).code == 0)

        #expect(authorizations == ["Basic bWU6cGFzczp3b3Jk"])
    }

    @Test func `credentials in a URL count like --user`() async throws {
        let address = url("/open").replacing("http://", with: "http://me:pass%3Aword@", maxReplacements: 1)

        #expect(try await Program.run(address).code == 0)
        #expect(try await Program.run("-u", "a:b", address).code == 0)

        #expect(authorizations == ["Basic bWU6cGFzczp3b3Jk", "Basic YTpi"])
    }

    @Test func `a URL may have a password and no user, as --user may`() async throws {
        let address = url("/open").replacing("http://", with: "http://:token@", maxReplacements: 1)

        #expect(try await Program.run(address).code == 0)
        #expect(try await Program.run("-u", ":token", url("/open")).code == 0)

        #expect(authorizations == ["Basic OnRva2Vu", "Basic OnRva2Vu"])
    }

    @Test(arguments: ["digest", "any"])
    func `other schemes wait for a challenge`(scheme: String) async throws {
        let address = url("/digest-auth/auth/me/secret/SHA-256")

        let run = try await Program.run("--auth", scheme, "-u", "me:secret", "-f", address, address)

        #expect(run.code == 0 && server.requests.count == 3)
        #expect(authorizations[0] == nil && authorizations[1]?.hasPrefix("Digest ") == true)
    }

    @Test func `each group has its own login, and one without sends none`() async throws {
        let (ann, bob) = (url("/digest-auth/auth/ann/1/SHA-256"), url("/digest-auth/auth/bob/2/SHA-256"))
        let run = try await Program.run(
            ["--digest", "-f", "-u", "ann:1", ann, "--next", "--digest", "-f", "-u", "bob:2", bob]
                + ["--next", "--digest", "-f", bob, "--next", "-m", "30", "--digest", "-f", ann]
        )

        #expect(run.code == 22)
        #expect(authorizations.map { $0?.contains("bob") } == [nil, false, nil, true, nil, nil])
    }

    @Test func `groups without a login share a connection, whatever their schemes`() async throws {
        let run = try await Program.run(
            "--digest",
            url("/open"),
            "--next",
            "--anyauth",
            url("/open"),
            "--next",
            url("/open")
        )

        #expect(run.code == 0 && server.requests.map(\.connection) == [1, 1, 1], "\(run.errors)")
    }

    @Test func `a login in a URL is for that URL`() async throws {
        let path = "/digest-auth/auth/ann/1/SHA-256"
        let address = url(path).replacing("http://", with: "http://ann:1@", maxReplacements: 1)
        let run = try await Program.run("--digest", "-f", address, url(path))

        #expect(run.code == 22 && authorizations.map { $0 != nil } == [false, true, false])
    }

    @Test func `digest sends no password to a server that asks for Basic`() async throws {
        let address = url("/basic-auth/me/secret")

        let digest = try await Program.run("--auth", "digest", "-u", "me:secret", "-f", address)
        let any = try await Program.run("--auth", "any", "-u", "me:secret", "-f", address)

        #expect(digest.code == 22 && any.code == 0)
        #expect(authorizations == [nil, nil, "Basic bWU6c2VjcmV0"])
    }

    @Test func `a wrong password is 401, after one try`() async throws {
        let run = try await Program.run("--auth", "any", "-u", "me:guess", "-f", url("/digest-auth/auth/me/secret/MD5"))

        #expect(run.code == 22 && server.requests.count == 2)
        #expect(!run.errors.contains("guess"))
    }

    @Test func `another origin gets no credentials, unless there is --location-trusted`() async throws {
        let other = try TestServer()
        other.install(.digestAuthentication)
        let target = other.url("/digest-auth/auth/me/secret/MD5").absoluteString
        let address = url("/redirect-to?url=\(target)")

        let careful = try await Program.run("-L", "--auth", "any", "-u", "me:secret", "-f", address)
        let trusting = try await Program.run("--location-trusted", "--auth", "any", "-u", "me:secret", "-f", address)

        #expect(careful.code == 22 && trusting.code == 0)
        #expect(other.requests.prefix(2).allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `--bearer is a token`() async throws {
        _ = try await Program.run("--bearer", "abc.def", url("/open"))
        _ = try await Program.run("--bearer", "abc", "-H", "Authorization: mine", url("/open"))

        #expect(authorizations == ["Bearer abc.def", "mine"])
        #expect(try await Program.run("--bearer", "a\r\nB: c", url("/open")).code == 43)
    }

    @Test func `a netrc file that others can read is refused`() async throws {
        let file = try folder.make("netrc", Data("machine 127.0.0.1 login me password secret\n".utf8))
        let address = url("/basic-auth/me/secret")

        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let readable = try await Program.run("--netrc-file", file, address)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let run = try await Program.run("--netrc-file", file, "-f", address)

        #expect(readable.code == 26 && run.code == 0)
        try FileManager.default.moveItem(atPath: file, toPath: folder.path(".netrc"))
        let atHome = try await Program.run(["-n", "-f", address], environment: ["HOME": folder.url.path])
        #expect(atHome.code == 0)
    }

    private func netrc(_ text: String) throws -> [String] {
        let file = try folder.make("netrc", Data(text.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        return ["-s", "--netrc-file", file]
    }

    private func basic(_ login: String) -> String { "Basic \(Data(login.utf8).base64EncodedString())" }

    @Test func `a password of a netrc file is sent at once, for the user of the URL if it has one`() async throws {
        let options = try netrc(
            "machine 127.0.0.1 login me password \"a \\\"b\" machine 127.0.0.1 login you password c"
        )
        for user in ["", "you@", "other@", "you:own@"] {
            _ = try await Program.run(options + [url("/open").replacing("//", with: "//\(user)")])
        }

        #expect(authorizations == ["me:a \"b", "you:c", "other:", "you:own"].map(basic))
    }

    @Test func `-u, a token and a field go before a netrc file`() async throws {
        let options = try netrc("machine 127.0.0.1 login me password secret")
        for others in [
            ["-u", "a:b"], ["--bearer", "token"], ["-H", "Authorization: mine"], ["-H", "Authorization:"],
        ] {
            _ = try await Program.run(options + others + [url("/open")])
        }

        #expect(authorizations == [basic("a:b"), "Bearer token", "mine", nil])
    }

    @Test func `with --digest a password of a netrc file waits for the challenge`() async throws {
        let options = try netrc("machine 127.0.0.1 login me password secret")
        let address = url("/digest-auth/auth/me/secret/SHA-256")
        let named = address.replacing("//127", with: "//me@127")

        let run = try await Program.run(
            options + ["--digest", "-f", address, "--next"] + options + ["--digest", "-f", named]
        )

        #expect(run.code == 0)
        #expect(authorizations.first == .some(nil))
        #expect(authorizations.compactMap(\.self).allSatisfy { $0.hasPrefix("Digest ") && $0.contains("\"me\"") })
    }

    @Test func `behind a redirect each host gets its own password of a netrc file, and one without an entry none`()
        async throws
    {
        let options = try netrc("machine 127.0.0.1 login me password a machine b.test login you password b")
        let places = ["--resolve", "*:\(server.port):127.0.0.1", "-L"]
        let last = "http://c.test:\(server.port)/open"
        server.route("GET", "/next", .status(302).header("Location", last))
        // A user that a server writes into the URL chooses nothing.
        server.route(
            "GET",
            "/first",
            .status(302).header("Location", "http://other@b.test:\(server.port)/next")
        )

        #expect(try await Program.run(options + places + [url("/first")]).code == 0)
        #expect(authorizations == [basic("me:a"), basic("you:b"), nil])
        // What the command line says of the field holds for all requests.
        #expect(try await Program.run(options + places + ["-H", "Authorization: x", url("/first")]).code == 0)
        #expect(authorizations.dropFirst(3) == ["x", nil, nil])
    }

    @Test(arguments: ["basic", "any"])
    func `a redirect from https to http gets no password of a netrc file`(scheme: String) async throws {
        let site = try SecuredSite()
        site.server.route("*", "/*", .status(302).header("Location", url("/basic-auth/me/a")))
        let options = try netrc("machine 127.0.0.1 login me password a")

        let run = try await Program.run(options + ["--auth", scheme, "-f", "-L", "--cacert", site.root, site.url])
        #expect(run.code == 22 && authorizations == [nil], "\(run.errors)")
        #expect(site.server.requests.map { $0.headers["Authorization"] } == [scheme == "basic" ? basic("me:a") : nil])
    }

    @Test func `behind a redirect a challenge gets the password that a netrc file has for its host`() async throws {
        let options = try netrc("machine 127.0.0.1 login you password b machine b.test login me password secret")
        let places = ["--resolve", "b.test:\(server.port):127.0.0.1", "-L", "-f", "--digest"]
        let target = "http://b.test:\(server.port)/digest-auth/auth/me/secret/SHA-256"
        server.route("GET", "/first", .status(302).header("Location", target))
        let other = "http://b.test:\(server.port)/basic-auth/me/secret"
        server.route("GET", "/second", .status(302).header("Location", other))

        #expect(try await Program.run(options + places + [url("/first")]).code == 0)
        #expect(try await Program.run(options + places + [url("/second")]).code == 22)
        #expect(authorizations.map { $0?.hasPrefix("Digest ") } == [nil, nil, true, nil, nil])
        // The next group has no such file, and the first host no entry in it.
        let others = try netrc("machine b.test login me password secret") + places + [url("/first"), "--next"]
        #expect(try await Program.run(others + places + [url("/first")]).code == 22)
        #expect(authorizations.suffix(2) == [nil, nil])
    }

    /// Runs a command on a new terminal.
    private static let script = "/usr/bin/script"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: script)))
    func `-u with a user alone asks on the terminal, without echo`() async throws {
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.make("input", Data("secret\n".utf8))))
        let shown = try folder.make("shown")
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: shown))
        let code = try await ChildProcess.run(
            Self.script,
            ["-qec", "\(Program.path) -s -u me \(url("/open"))", "/dev/null"],
            environment: ProcessInfo.processInfo.environment,
            input: input.fileDescriptor,
            output: output.fileDescriptor
        )

        #expect(code == 0 && authorizations == ["Basic bWU6c2VjcmV0"])
        let text = String(decoding: folder.contents("shown") ?? Data(), as: UTF8.self)
        #expect(text.contains("password of me for the server: "))
    }

    @Test func `without a terminal a user alone has an empty password`() async throws {
        _ = try await Program.run(inShell: "setsid -w \"$@\" </dev/null", ["--user", "me", url("/open")])

        #expect(authorizations == ["Basic bWU6"])
    }

    @Test func `a netrc file that is optional need not be there`() async throws {
        let home = ["HOME": folder.url.path]
        #expect(try await Program.run(["-n", url("/open")], environment: home).code == 26)
        #expect(try await Program.run(["--netrc-optional", url("/open")], environment: home).code == 0)
    }
}
