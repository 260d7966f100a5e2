import Foundation
import Testing
import afnet

/// `--write-out`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct WriteOutTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.redirects)
        server.route(
            "*",
            "/x",
            ServerReply.text("body").header("X-One", "1").header("X-Two", "a").header("X-Two", "\"b")
        )
        server.route("GET", "/gone", .text("no").status(404))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    private func out(_ format: String, _ options: String...) async throws -> String {
        try await Program.run(["-o", "/dev/null", "-w", format] + options).text
    }

    @Test func `the usual variables have their values`() async throws {
        let format = "%{http_code} %{response_code} %{size_download} %{size_upload} %{method} %{scheme} %{content_type}"
        #expect(try await out(format, "-d", "abc", url("/x")) == "200 200 4 3 POST HTTP text/plain; charset=utf-8")

        let address = try await out("%{remote_ip}:%{remote_port} %{local_ip} %{num_connects}", url("/x"))
        #expect(address == "127.0.0.1:\(server.port) 127.0.0.1 1")
        let place = "%{url_effective} %{num_redirects} %{redirect_url}"
        #expect(try await out(place, "-L", url("/redirect/2")) == "\(url("/redirect/0")) 2 ")
        #expect(try await out(place, url("/redirect/2")) == "\(url("/redirect/2")) 0 \(url("/redirect/1"))")
    }

    @Test func `times are in seconds, in the order of the phases`() async throws {
        let names = ["namelookup", "connect", "appconnect", "pretransfer", "starttransfer", "total"]
        let text = try await out(names.map { "%{time_\($0)}" }.joined(separator: " "), url("/x"))
        let times = text.split(separator: " ").compactMap { Double($0) }

        #expect(times.count == 6 && times[2] == 0)
        #expect(times[1] > 0 && times[1] <= times[3] && times[3] <= times[4] && times[4] <= times[5])
        #expect(text.split(separator: " ").allSatisfy { $0.split(separator: ".").last?.count == 6 })
    }

    @Test func `fields, escapes and streams are written`() async throws {
        #expect(try await out("%header{x-one}|%header{none}|\\t\\n\\r\\x%%%d", url("/x")) == "1||\t\n\r\\x%%d")
        #expect(try await out("%{header_json}", url("/x")).contains(#""x-two":["a","\"b"]"#))
        let run = try await Program.run("-w", "a%{stderr}b%{stdout}c", url("/x"))
        #expect(run.text == "bodyac" && run.errors == "b")
        let file = try folder.make("format", Data("%{http_code}\n\r\n\\n-\n".utf8))
        // The line ends of a file do not count, as in curl.
        #expect(try await out("@\(file)", url("/x")) == "200\n-")
        #expect(try await Program.run("-w", "@\(folder.path("none"))", url("/x")).code == 26)
    }

    @Test func `the certificates of a server are written, and whether they are trusted`() async throws {
        let site = try SecuredSite()
        let format = ["-o", "/dev/null", "-w", "%{ssl_verify_result} %{num_certs} %{certs}"]
        let trusted = try await Program.run(format + ["--cacert", site.root, site.url]).text
        let insecure = try await Program.run(format + ["-k", site.url]).text

        #expect(trusted.hasPrefix("0 2 Subject:") && !insecure.hasPrefix("0 ") && !insecure.hasPrefix(" "))
        #expect(trusted.components(separatedBy: "-----BEGIN CERTIFICATE-----\n").count == 3)
        #expect(try await out("%{ssl_verify_result} %{num_certs} %{http_connect} %{certs}", url("/x")) == "0 0 000 ")
    }

    @Test func `text for a terminal is escaped`() async throws {
        server.route("GET", "/evil", ServerReply.status(200).header("X-Evil", "\u{9B}31m"))

        let run = try await Program.runOnTerminal("-w", "\\t%header{x-evil}|%{stderr}%header{x-evil}", url("/evil"))

        #expect(run.text == "\t\\u{9B}31m|\\u{9B}31m" || run.text == "\\u{9B}31m\t\\u{9B}31m|")
    }

    @Test func `a URL that failed has its code, too`() async throws {
        let refused = try await Program.run("-sf", "-w", "%{http_code} %{exitcode} %{onerror}%{errormsg}", url("/gone"))
        #expect(refused.code == 22 && refused.text == "404 22 the server answered 404, not found")
        let unknown = try await Program.run("-s", "-w", "%{http_code} %{exitcode}", "http://afnet.invalid/")
        #expect(unknown.code == 6 && unknown.text == "000 6")
        #expect(try await out("%{http_code}%{onerror}never", url("/x")) == "200")
    }

    @Test func `%{json} is JSON of all names`() async throws {
        let text = try await out("%{json}", url("/x"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])

        #expect(object["http_code"] as? Int == 200 && object["url_effective"] as? String == url("/x"))
        #expect(object["redirect_url"] is NSNull && object["exitcode"] as? Int == 0)
        let failed = try await Program.run("-s", "-w", "%{json}", "http://afnet.invalid/").text
        #expect(try JSONSerialization.jsonObject(with: Data(failed.utf8)) is [String: Any])
    }

    @Test func `an unknown variable is an error before anything is sent`() async throws {
        let run = try await Program.run("-w", "%{http_cod}", url("/x"))
        #expect(run.code == 2 && run.errors.contains("%{http_cod}") && server.acceptedConnections == 0)
    }
}
