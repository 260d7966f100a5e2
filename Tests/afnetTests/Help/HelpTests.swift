import AFFaults
import Foundation
import Testing
import afnet

/// The help, and the completions. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct HelpTests {
    private static let topics = [
        "transfers", "urls", "bodies", "login", "cookies", "output", "write-out", "retries", "parallel", "cache",
        "proxies",
        "tls",
        "pins", "policy", "report", "images", "lint", "verify-chain", "reach", "serve", "events", "ws", "completion",
        "config", "curl",
        "exit-codes",
    ]

    @Test func `--help is one screen, help all has every option`() async throws {
        let brief = try await Program.run("--help").text
        let all = try await Program.run("help", "all").text

        #expect(brief.split(separator: "\n").count < 40)
        #expect(Self.topics.allSatisfy { brief.contains($0) })
        #expect(OptionNames.all.allSatisfy { all.contains($0) } && OptionNames.all.count > 90)
        #expect(try await Program.run("--help", "all").text == all)
        let named = all.components(separatedBy: "(afnet help ").dropFirst().map { String($0.prefix { $0 != ")" }) }
        #expect(named.count > 10 && named.allSatisfy(Self.topics.contains))
        #expect((brief + all).split(separator: "\n").allSatisfy { $0.count < 80 })
        #expect(all.hasSuffix("  97  the SOCKS proxy refused\n"))
    }

    @Test(arguments: topics)
    func `a topic has a text that fits the screen, and valid examples`(topic: String) async throws {
        let text = try await Program.run("help", topic).text

        let lines = text.split(separator: "\n")
        // An example must be one line, so that it can be copied.
        let isLong = { (line: Substring) in line.hasPrefix("    ") || line.hasPrefix("usage: ") }
        #expect(text.count > 200 && lines.allSatisfy { $0.count < (isLong($0) ? 95 : 80) })
        #expect(try await Program.run("--help", topic).text == text)
        for example in Self.examples(in: text) {
            #expect(throws: Never.self, "\(example)") { try Arguments.groups(example) }
        }
    }

    @Test func `the examples of --help are valid`() throws {
        let examples = Self.examples(in: try #require(HelpText.text(on: nil)))

        #expect(examples.count >= 5)
        for example in examples { #expect(throws: Never.self, "\(example)") { try Arguments.groups(example) } }
    }

    @Test func `commands have help topics, and an unknown topic is 2`() async throws {
        #expect(try await Program.run("serve", "--help").text.hasPrefix("usage: afnet serve "))
        #expect(try await Program.run("pins", "-h").text.contains("--cacert PATH"))
        let unknown = try await Program.run("help", "nonsense")
        #expect(unknown.code == 2 && unknown.errors.contains("write-out"))
        #expect(
            try await Program.run("help", "retry").errors == "afnet: there is no topic retry; did you mean retries?\n"
        )
    }

    @Test func `no two options have the same name`() {
        #expect(Set(OptionNames.all).count == OptionNames.all.count)
    }

    /// The words of the lines that begin with `afnet`, split as by a shell.
    private static func examples(in text: String) -> [[String]] {
        // verify-chain has a parser of its own.
        let lines = text.components(separatedBy: "\n").filter { !$0.contains(" verify-chain ") }
        return lines.filter { $0.hasPrefix("    afnet ") }.map { line in
            var words: [String] = []
            var word: String?
            var isQuoted = false
            for character in line.dropFirst(10) {
                switch character {
                case "'":
                    isQuoted.toggle()
                    word = word ?? ""
                case " " where !isQuoted:
                    if let word { words.append(word) }
                    word = nil
                default: word = (word ?? "") + String(character)
                }
            }
            if let word { words.append(word) }
            // The rest is for the shell.
            return Array(words.prefix { $0 != ">" })
        }
    }

    // MARK: - The manual page

    @Test func `the manual page has every option, and no line that roff misreads`() async throws {
        let page = try await Program.run("help", "man").text
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)

        #expect(page.hasPrefix(".TH AFNET 1 \"\" \"afnet "))
        #expect(OptionNames.all.allSatisfy { page.contains($0.replacing("-", with: "\\-")) })
        #expect(
            Self.topics.filter { $0 != "exit-codes" }.allSatisfy {
                page.contains(".SH \($0.uppercased().replacing("-", with: "\\-"))\n")
            }
        )
        let requests = [".TH ", ".SH ", ".SS ", ".TP", ".B ", ".nf", ".fi"]
        #expect(
            lines.allSatisfy { line in
                !line.hasPrefix("'") && (!line.hasPrefix(".") || requests.contains { line.hasPrefix($0) })
            }
        )
        #expect(
            lines.allSatisfy {
                !$0.replacing("\\e", with: "").replacing(/\\(-|&|\(aq|\(ga|\(ha|\(ti)/, with: "").contains("\\")
            }
        )
        #expect(page.hasSuffix(".TP\n.B 97\nthe SOCKS proxy refused\n"))
    }

    // MARK: - Completions

    private func complete(_ words: String...) async throws -> [String] {
        let script = try await Program.run("completion", "bash").text
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let call = """
            \(script)
            COMP_WORDS=(afnet \(list)); COMP_CWORD=\(words.count)
            _afnet; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let environment = ProcessInfo.processInfo.environment
        let answer = try ChildProcess.answer(of: "/bin/bash", ["-c", call], environment: environment, withErrors: true)
        return String(decoding: answer.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `bash completes options, their words, commands and topics`() async throws {
        #expect(try await complete("--retry-c") == ["--retry-connrefused"])
        #expect(try await complete("--auth", "d") == ["digest"])
        #expect(try await complete("se") == ["serve"])
        #expect(try await complete("help", "wr") == ["write-out"])
        let folder = try Program.Folder()
        let file = try folder.make("a b")
        #expect(try await complete("-o", folder.path("a")) == [file])
        #expect(try await complete("--max-time", "").isEmpty)
    }

    @Test(arguments: [("bash", "/bin/bash"), ("zsh", "/usr/bin/zsh"), ("fish", "/usr/bin/fish")])
    func `each installed shell can read its script`(shell: String, program: String) async throws {
        let run = try await Program.run("completion", shell)
        #expect(run.code == 0 && run.text.contains("retry-connrefused"))
        guard FileManager.default.isExecutableFile(atPath: program) else { return }
        let folder = try Program.Folder()
        let file = try folder.make("completion", run.output)
        let environment = ProcessInfo.processInfo.environment
        #expect(try ChildProcess.answer(of: program, ["-n", file], environment: environment).status == 0)
    }

    @Test func `an unknown shell is 2`() async throws {
        #expect(try await Program.run("completion", "tcsh").code == 2)
    }
}
