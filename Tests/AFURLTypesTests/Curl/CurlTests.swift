import AFFaults
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Requests as commands")
struct CurlTests {
    private func request(_ url: String) throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

    // MARK: - Quoting

    private func randomText(_ random: inout SystemRandomNumberGenerator) -> String {
        let pieces = [
            "'", "\"", "\\", "$(id)", "`", "!", "\n", "\t", "\r", "\u{1B}[0m", "\u{7F}", "é", "日本", "\u{85}",
            "\u{202E}",
            "👩‍👩‍👧", " ", "*", "~", "a", "Z9", "%s", "\\0", "$'x'", "-", "--", "&", ";", "|", "#", "7",
        ]
        let count = Int.random(in: 0...12, using: &random)
        return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    @Test func `a shell reads any text back as it was`() throws {
        var random = SystemRandomNumberGenerator()
        let texts =
            (0..<400).map { _ in randomText(&random) } + ["", "'", "''", "\n", "a\n", "\u{1B}\n", "-n", "%"]
        let words = texts.map(ShellText.word)
        #expect(words.allSatisfy { $0.unicodeScalars.allSatisfy(ShellText.isShown) })

        let output = try Shell.run("printf '%s\\0' " + words.joined(separator: " "))

        let read = output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { [UInt8]($0) }
        #expect(read == texts.map { [UInt8]($0.utf8) })
    }

    @Test func `a shell prints any bytes as they were`() throws {
        var random = SystemRandomNumberGenerator()
        let all = [UInt8](0...255)
        let samples =
            [all, [], all.reversed(), Array("-x".utf8), Array("--".utf8)]
            + (0..<20).map { _ in
                (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        for bytes in samples { #expect([UInt8](try Shell.run(ShellText.printing(bytes))) == bytes) }
    }

    @Test func `NUL is left out of a word, since no argument can hold it`() {
        #expect(ShellText.word("a\0b c") == "'ab c'" && ShellText.word("\0") == "''")
    }

    // MARK: - Requests

    @Test func `a plain request is a plain command`() throws {
        #expect(try request("http://a.test/x").curlCommand() == "curl http://a.test/x")
        #expect(try request("https://a.test/?a=b").curlCommand() == "curl --http1.1 'https://a.test/?a=b'")
    }

    @Test func `methods are said where they are not implied`() throws {
        func words(_ method: String, _ body: String?) throws -> [String] {
            var request = try request("http://a.test/")
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            return Array(
                try Shell.parsed(request.curlCommand()).words.filter {
                    $0 != "Content-Type: text/plain" && $0 != "--header"
                }.dropLast()
            )
        }
        #expect(try words("GET", nil) == [])
        #expect(try words("HEAD", nil) == ["--head"])
        #expect(try words("DELETE", nil) == ["--request", "DELETE"])
        #expect(try words("POST", "x") == ["--data-raw", "x"])
        #expect(try words("POST", nil) == ["--data-raw", ""])
        #expect(try words("PUT", "x") == ["--request", "PUT", "--data-raw", "x"])
        #expect(try words("GET", "@/etc/passwd") == ["--request", "GET", "--data-raw", "@/etc/passwd"])
    }

    @Test func `fields are as they are sent`() throws {
        var request = try request("http://a.test/{x}/./[y]")
        request.setValue("it's \"so\"", forHTTPHeaderField: "X-Quote")
        request.setValue("", forHTTPHeaderField: "X-Empty")
        request.setValue("x", forHTTPHeaderField: "@/etc/passwd")
        request.setValue("5", forHTTPHeaderField: "Content-Length")
        let words = try Shell.parsed(request.curlCommand(followsRedirects: true)).words
        #expect(words.contains("X-Quote: it's \"so\"") && words.contains("X-Empty;"))
        #expect(!words.contains { $0.contains("passwd") || $0.contains("Content-Length") })
        #expect(words.contains("--location") && words.contains("--path-as-is"))
    }

    @Test func `bodies are exact, whatever they hold`() throws {
        var request = try request("http://a.test/")
        request.httpMethod = "POST"
        request.httpBody = Data("{\"it's\": \"ü\\n\"}\n\n".utf8)
        var found = try Shell.parsed(request.curlCommand())
        #expect(
            found.words.contains("{\"it's\": \"ü\\n\"}\n\n")
                && found.words.contains("Content-Type: application/x-www-form-urlencoded")
        )
        request.withheldHeaderFields = ["Content-Type"]
        #expect(try Shell.parsed(request.curlCommand()).words.contains("Content-Type:"))

        let binary = Data([0xFF, 0x1B, 0x27, 0x25, 0x5C, 0x0A])
        request.httpBody = binary
        found = try Shell.parsed(request.curlCommand())
        #expect(found.input == binary && found.words.contains("--data-binary") && found.words.contains("@-"))

        request.httpBody = Data(count: 2 << 20)
        let long = request.curlCommand()
        #expect(long.utf8.count < 200 && long.contains("--data-binary @-") && long.contains("Expect:"))

        request.httpBodyStream = InputStream(data: binary)
        #expect(request.curlCommand().contains("'Transfer-Encoding: chunked'"))
        // A number by the rules of Swift, and none by those of HTTP.
        request.setValue("+6", forHTTPHeaderField: "Content-Length")
        #expect(request.curlCommand().contains("'Transfer-Encoding: chunked'"))
        request.setValue("6", forHTTPHeaderField: "Content-Length")
        #expect(!request.curlCommand().contains("Transfer-Encoding"))
    }

    @Test func `secrets are hidden unless you say otherwise`() throws {
        var request = try request("https://canary:canary@a.test/?token=canary")
        request.httpMethod = "POST"
        request.httpBody = Data("user=me&password=canary".utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Mine"] {
            request.setValue("canary", forHTTPHeaderField: name)
        }
        #expect(!request.curlCommand(sensitiveFields: ["x-mine"]).contains("canary"))
        #expect(request.curlCommand().contains("X-Mine: canary"))
        // With a character that no terminal shows, `printf` writes the body.
        for body in ["password=canary&a=\u{1B}", #"{"password": "canary", "a": "\u{1B}"}"#, #"{"password": "canary"}"#]
        {
            request.httpBody = Data(body.utf8)
            let command = request.curlCommand(sensitiveFields: ["x-mine"])
            #expect(!command.contains("canary") && command.contains("***"))
        }
        request.httpBody = Data("user=me&password=canary".utf8)

        let open = try Shell.parsed(request.curlCommand(masksSecrets: false)).words
        #expect(open.contains("Authorization: canary") && open.contains("user=me&password=canary"))
        #expect(open.last == "https://canary:canary@a.test/?token=canary" && open.contains("--anyauth"))
    }
}
