import Foundation
import Testing
import afnet

/// The options about proxies. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct ProxyOptionTests {
    let origin: TestServer
    let proxy: TestProxy

    init() throws {
        origin = try TestServer()
        proxy = try TestProxy()
        origin.route("*", "/x", .text("answer"))
    }

    private var url: String { origin.url("/x").absoluteString }
    private var address: String { "127.0.0.1:\(proxy.server.port)" }

    @Test func `http goes through the proxy in absolute form, or in a tunnel`() async throws {
        let plain = try await Program.run("-x", address, "--proxy-header", "X-Tunnel: 1", url)
        let tunnel = try await Program.run("-x", "http://\(address)", "-p", "--proxy-header", "X-Tunnel: 1", url)

        #expect(plain.text == "answer" && tunnel.text == "answer")
        #expect(proxy.requests.map(\.method) == ["GET", "CONNECT"])
        #expect(proxy.requests.map { $0.headers["X-Tunnel"] } == [nil, "1"])
        #expect(origin.requests.allSatisfy { $0.headers["X-Tunnel"] == nil })
    }

    @Test(
        arguments: [
            ([], "afnet/"), (["-A", "mine/1"], "mine/1"), (["-H", "User-Agent: mine/2"], "mine/2"),
            (["-A", "mine/1", "--proxy-header", "User-Agent: office/1"], "office/1"), (["-H", "User-Agent:"], nil),
        ] as [([String], String?)]
    )
    func `a CONNECT has the User-Agent of the request`(
        options: [String],
        agent: String?
    ) async throws {
        let run = try await Program.run(options + ["-x", address, "-p", "-H", "X-Canary: 1", url])
        let told = proxy.requests.first?.headers["User-Agent"]

        #expect(run.text == "answer" && proxy.requests.map(\.method) == ["CONNECT"])
        #expect(agent.map { told?.hasPrefix($0) == true } ?? (told == nil))
        #expect(proxy.requests.first?.headers["X-Canary"] == nil)
    }

    @Test func `--noproxy names hosts that are reached without the proxy`() async throws {
        for list in ["127.0.0.1", "*", "other.test,127.0.0.0/8"] {
            #expect(try await Program.run("-x", address, "--noproxy", list, url).code == 0)
        }
        #expect(proxy.requests.isEmpty && origin.requests.count == 3)
        #expect(try await Program.run("-x", address, "--noproxy", "other.test", url).code == 0)
        #expect(proxy.requests.count == 1)
    }

    @Test func `the proxy of the environment is for this machine, too, unless no_proxy names it`() async throws {
        let environment = ["http_proxy": "http://\(address)", "no_proxy": ""]
        #expect(try await Program.run([url], environment: environment).text == "answer" && proxy.requests.count == 1)
        let bypassed = environment.merging(["no_proxy": "127.0.0.1"]) { $1 }
        #expect(try await Program.run([url], environment: bypassed).text == "answer" && proxy.requests.count == 1)
    }

    @Test func `no_proxy is for the proxy of the command line, too, unless there is --noproxy`() async throws {
        let environment = ["no_proxy": "127.0.0.1"]
        #expect(try await Program.run(["-x", address, url], environment: environment).text == "answer")
        #expect(proxy.requests.isEmpty)
        let named = ["-x", address, "--noproxy", "other.test", url]
        #expect(try await Program.run(named, environment: environment).text == "answer" && proxy.requests.count == 1)
    }

    @Test func `a path says nothing of a proxy`() async throws {
        #expect(try await Program.run("-x", "http://\(address)/path", url).text == "answer")
        #expect(proxy.requests.count == 1)
        #expect(try await Program.run("-x", "http://u:p/w@\(address)", url).code == 43 && proxy.requests.count == 1)
    }

    @Test func `--connect-to is refused beside a proxy of the environment, which would not hear of it`() async throws {
        let environment = ["http_proxy": "http://\(address)", "no_proxy": ""]
        let elsewhere = ["--connect-to", "origin.test:80:127.0.0.1:\(origin.port)", "http://origin.test/x"]
        let run = try await Program.run(elsewhere, environment: environment)

        #expect(run.code == 2 && run.errors.contains("--noproxy '*'"), "\(run.errors)")
        #expect(try await Program.run(["--noproxy", "*"] + elsewhere, environment: environment).text == "answer")
        #expect(proxy.requests.isEmpty)
    }

    @Test func `the environment names a proxy, and an empty --proxy means none`() async throws {
        let named = try #require(URL(string: "http://origin.test:\(origin.port)/x"))
        proxy.rules.names["origin.test"] = origin.address
        let environment = ["http_proxy": "http://\(address)", "no_proxy": ""]

        #expect(try await Program.run([named.absoluteString], environment: environment).text == "answer")
        #expect(try await Program.run(["-x", "", url], environment: environment).text == "answer")
        #expect(proxy.requests.count == 1)
    }

    @Test(
        arguments: [
            ([], 407, ["GET"]), (["--noproxy", "127.0.0.1"], 407, ["GET"]), (["-U", "ann:secret"], 200, ["GET"]),
            (["-U", "ann:secret", "-p", "--proxy-header", "X-Tunnel: 1"], 200, ["CONNECT"]),
            (["--noproxy", "origin.test"], 0, []), (["--noproxy", "*"], 0, []),
        ] as [([String], Int, [String])]
    )
    func `the options change the proxy of the environment`(
        options: [String],
        status: Int,
        methods: [String]
    ) async throws {
        proxy.rules.names["origin.test"] = origin.address
        proxy.rules.authentication = .password(user: "ann", password: "secret")
        let environment = ["all_proxy": "http://\(address)", "https_proxy": "", "no_proxy": ""]
        let place = ["--resolve", "origin.test:\(origin.port):127.0.0.1", "http://origin.test:\(origin.port)/x"]
        let output = ["-o", "/dev/null", "-w", "%{http_code}"]

        let run = try await Program.run(options + output + place, environment: environment)

        #expect(run.text == (status == 0 ? "200" : "\(status)"))
        #expect(proxy.requests.map(\.method) == methods)
        #expect(proxy.requests.map { $0.headers["X-Tunnel"] } == methods.map { $0 == "CONNECT" ? "1" : nil })
    }

    @Test func `a proxy of the environment that cannot be used is said with its name`() async throws {
        let run = try await Program.run(["-p", url], environment: ["http_proxy": "ftp://a:canary@h"])

        #expect(run.code == 43 && run.errors.contains("http_proxy") && !run.errors.contains("canary"))
    }

    @Test(arguments: [["-U", "ann:secret"], ["-U", "ann:secret", "-p"], []])
    func `basic credentials are sent with the first request to the proxy`(options: [String]) async throws {
        proxy.rules.authentication = .password(user: "ann", password: "secret")
        let place = options.isEmpty ? "ann:secret@\(address)" : address

        let run = try await Program.run(["-x", place] + options + [url])

        #expect(run.text == "answer" && proxy.requests.count == 1)
        #expect(origin.requests.first?.headers["Proxy-Authorization"] == nil)
    }

    @Test(arguments: ["digest", "any"], [[], ["-p"]])
    func `other credentials wait for the challenge of the proxy`(scheme: String, options: [String]) async throws {
        proxy.rules.authentication = .digest(DigestRules(user: "ann", password: "secret"))

        let run = try await Program.run(["-x", address, "-U", "ann:secret", "--proxy-auth", scheme] + options + [url])

        #expect(run.text == "answer")
        #expect(proxy.requests.first?.headers["Proxy-Authorization"] == nil)
        #expect(proxy.requests.last?.headers["Proxy-Authorization"]?.hasPrefix("Digest ") == true)
    }

    @Test func `failures of a proxy have their codes`() async throws {
        proxy.rules.authentication = .password(user: "ann", password: "secret")
        let wrong = try await Program.run("-x", address, "-U", "ann:canary", "-p", url)
        #expect(wrong.code == 56 && !wrong.errors.contains("canary"))
        #expect(try await Program.run("-f", "-x", address, url).code == 22)
        #expect(try await Program.run("-x", "afnet.invalid:1", url).code == 5)
        #expect(try await Program.run("-x", "ftp://\(address)", url).code == 43)
        proxy.server.stop()
        #expect(try await Program.run("-x", address, url).code == 7)
    }

    @Test func `the scheme decides where SOCKS names are looked up`() async throws {
        let socks = try TestProxy(.socks5)
        socks.rules.names["origin.test"] = origin.address

        let run = try await Program.run(
            "-x",
            "socks5h://127.0.0.1:\(socks.server.port)",
            "http://origin.test:\(origin.port)/x"
        )

        #expect(run.text == "answer" && socks.forwardings.count == 1)
        let place = "127.0.0.1:\(socks.server.port)"
        let named = "http://origin.test:\(origin.port)/x"
        #expect(try await Program.run("--socks5-hostname", place, named).text == "answer")
        // The client looks up the name, which does not exist.
        #expect(try await Program.run("--socks5", place, "http://afnet.invalid:\(origin.port)/x").code == 6)
        #expect(try await Program.run("--socks5", place, url).text == "answer")
    }

    @Test func `a SOCKS proxy that refuses is 97, and one that breaks off is not`() async throws {
        let socks = try TestProxy(.socks5)
        let place = "127.0.0.1:\(socks.server.port)"
        socks.enqueue(.refusing(1), .sending(bytes: [5, 0]))

        #expect(try await Program.run("--socks5", place, url).code == 97)
        #expect(try await Program.run("--socks5", place, url).code == 56)
        socks.rules.authentication = .password(user: "ann", password: "secret")
        #expect(try await Program.run("--socks5", place, url).code == 97)
        let wrong = try await Program.run("--socks5", place, "-U", "ann:canary", url)
        #expect(wrong.code == 97 && !wrong.errors.contains("canary"))
    }

    @Test func `a field that a proxy may not get is refused with the option's name`() async throws {
        let run = try await Program.run("-x", address, "--proxy-header", "Proxy-Connection: keep-alive", url)

        #expect(run.code == 43 && run.errors.contains("--proxy-header") && !run.errors.contains("tunnelFields"))
    }

    @Test func `a SOCKS proxy has no path, which would be that of a Unix socket`() async throws {
        for words in [["--socks5", "localhost/tmp/socket"], ["-x", "socks5h://localhost/tmp/socket"]] {
            let run = try await Program.run(words + [url])
            #expect(run.code == 43 && run.errors.contains("path"), "\(run.errors)")
        }
    }
}
