import AFURLSession
import Foundation
import Testing

/// `afnet cookies` and `afnet verify-chain`, which send nothing.
@Suite(.serialized) struct QuestionTests {
    private let folder: Program.Folder

    init() throws {
        folder = try Program.Folder()
    }

    // MARK: - Cookies

    private func answers(_ input: String) async throws -> (code: Int32, lines: [[String: Any]]) {
        let run = try await Program.run(["cookies"], input: Data(input.utf8))
        let lines = try run.output.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
        return (run.code, lines)
    }

    @Test func `each line is answered with an empty jar`() async throws {
        let (code, lines) = try await answers(
            """
            {"id":"x","steps":[{"op":"set","url":"http://a.example/p","lines":["k=v; Path=/"],"now":1502236800},\
            {"op":"get","url":"http://a.example/","now":1502236800}]}
            {"id":"y/ü","steps":[{"op":"get","url":"http://a.example/","now":1502236800}]}

            {"id":"z","steps":[{"op":"set","url":"https://a.example/p","lines":["k=v; Max-Age=10; Secure","l=\\"w\\""],\
            "now":100},{"op":"get","url":"https://a.example/p","now":109},{"op":"get","url":"https://a.example/p","now":110},\
            {"op":"get","url":"http://a.example/p","now":100},{"op":"get","url":"no url","now":100}]}
            """
        )

        #expect(code == 0 && lines.compactMap { $0["id"] as? String } == ["x", "y/ü", "z"])
        let cookies = lines.compactMap { $0["cookies"] as? [String] }
        #expect(cookies == [["k=v"], [""], ["k=v; l=\"w\"", "l=\"w\"", "l=\"w\"", ""]])
    }

    @Test(arguments: ["nonsense", "{}", #"{"id":"x","steps":[{"op":"drop","url":"http://a/","now":1}]}"#])
    func `a malformed line is a bad command`(line: String) async throws {
        let run = try await Program.run(["cookies"], input: Data("{\"id\":\"a\",\"steps\":[]}\n\(line)\n".utf8))

        #expect(run.code == 2 && run.text == "{\"cookies\":[],\"id\":\"a\"}\n" && run.errors.contains("line 2"))
    }

    // MARK: - Certificate paths

    private struct Chain {
        let trusted, untrusted, leaf, empty: String

        init(in folder: Program.Folder, for hosts: [String]) throws {
            let authority = try CertificateAuthority("Root")
            let intermediate = try authority.makeIntermediate("Intermediate")
            let issued = try intermediate.issue(.server(for: hosts))
            trusted = try folder.make("root.pem", Data(authority.pem.utf8))
            untrusted = try folder.make("middle.pem", Data(intermediate.pem.utf8))
            leaf = try folder.make("leaf.pem", Data(issued.pem.utf8))
            empty = try folder.make("empty.pem")
        }
    }

    private func verify(_ chain: Chain, _ arguments: String..., untrusted: String? = nil) async throws -> Program.Run {
        let files = ["--trusted", chain.trusted, "--untrusted", untrusted ?? chain.untrusted, "--leaf", chain.leaf]
        return try await Program.run(["verify-chain"] + files + arguments)
    }

    private var now: String { String(Int(Date().timeIntervalSince1970)) }

    @Test func `a valid path is 0, by name and by address`() async throws {
        let chain = try Chain(in: folder, for: ["api.test", "127.0.0.1", "::1"])

        #expect(try await verify(chain, "--host", "api.test", "--time", now).code == 0)
        #expect(try await verify(chain, "--ip", "127.0.0.1", "--time", now).code == 0)
        #expect(try await verify(chain, "--ip", "::1", "--time", now).code == 0)
    }

    @Test func `another name, another time and a missing link are 1, with the reason`() async throws {
        let chain = try Chain(in: folder, for: ["api.test"])
        let runs = [
            try await verify(chain, "--host", "other.test", "--time", now),
            try await verify(chain, "--ip", "127.0.0.1", "--time", now),
            try await verify(chain, "--host", "api.test", "--time", "4102444800"),
            try await verify(chain, "--host", "api.test", "--time", now, untrusted: chain.empty),
        ]

        for run in runs { #expect(run.code == 1 && run.text.count > 10 && run.errors == "") }
        #expect(Set(runs.map(\.text)).count == 4)
    }

    @Test func `a bad command or an unreadable file is 2`() async throws {
        let chain = try Chain(in: folder, for: ["api.test"])
        let runs = [
            try await verify(chain, "--host", "api.test"),
            try await verify(chain, "--time", now),
            try await verify(chain, "--host", "a.test", "--ip", "127.0.0.1", "--time", now),
            try await verify(chain, "--ip", "api.test", "--time", now),
            try await verify(chain, "--host", "api.test", "--time", "soon"),
            try await verify(chain, "--host", "api.test", "--time", "253402300800"),
            try await verify(chain, "--host", "api.test", "--time", "1e19"),
            try await verify(chain, "--host", "api.test", "--time", "-inf"),
            try await verify(chain, "--host", "api.test", "--time", now, "--host", "again"),
            try await verify(chain, "--host", "api.test", "--time", now, untrusted: folder.path("missing")),
            try await verify(chain, "--host", "api.test", "--time", now, "extra"),
        ]

        for run in runs { #expect(run.code == 2 && run.text == "" && run.errors.hasPrefix("afnet: ")) }
    }
}
