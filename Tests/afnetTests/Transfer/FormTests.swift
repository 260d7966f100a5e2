import Foundation
import Testing
import afnet

/// Multipart forms. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct FormTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("*", "/take", .text("taken"))
        server.route("POST", "/moved", .status(307).header("Location", "/take"))
        server.route("POST", "/found", .status(302).header("Location", "/take"))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    /// A form as the server reads it: the lines of each part's head, and the bodies.
    private static func parts(of request: RecordedRequest) throws -> [(head: [String], body: String)] {
        let type = try #require(request.headers["Content-Type"])
        let boundary = try #require(type.components(separatedBy: "multipart/form-data; boundary=").last)
        let pieces = request.bodyText.components(separatedBy: "--\(boundary)")
        #expect(pieces.last == "--\r\n" && type.hasPrefix("multipart/form-data"))
        return pieces.dropFirst().dropLast().map { piece in
            // CRLF is one character.
            let halves = piece.components(separatedBy: "\r\n\r\n")
            let head = halves[0].components(separatedBy: "\r\n").filter { !$0.isEmpty }
            return (head.sorted(), String(halves.dropFirst().joined(separator: "\r\n\r\n").dropLast()))
        }
    }

    @Test func `a part may have more fields, of the option or of a file`() async throws {
        let file = try folder.make("notes.html", Data("<p>hi".utf8))
        let fields = try folder.make("fields", Data("X-A: 1\n# not this\nX-B: 2\r\n".utf8))
        let run = try await Program.run(
            "-F",
            "a=1;headers=\"X-C: 3; 4\"",
            "-F",
            "f=@\(file);headers=@\(fields);type=text/plain",
            "-F",
            "g=@\(file);headers=X-D: 5",
            url("/take")
        )
        let parts = try Self.parts(of: try await server.waitForRequests(1)[0])

        #expect(run.code == 0 && parts.map(\.body) == ["1", "<p>hi", "<p>hi"])
        #expect(parts[0].head == ["Content-Disposition: form-data; name=\"a\"", "X-C: 3; 4"])
        let disposition = "Content-Disposition: form-data; name=\"f\"; filename=\"notes.html\""
        #expect(parts[1].head == [disposition, "Content-Type: text/plain", "X-A: 1", "X-B: 2"])
        #expect(parts[2].head.contains("X-D: 5") && parts[2].head.contains("Content-Type: text/html"))
        for bad in ["a=1;headers=nonsense", "a=@\(folder.path("none"));headers=A: b", "a=1;headers=\"A: b\r\nC: d\""] {
            let run = try await Program.run("-F", bad, url("/take"))
            #expect([26, 43].contains(run.code), "\(bad)")
        }
        #expect(server.requests.count == 1)
    }

    @Test func `a form has values, files and values from files, in their order`() async throws {
        let file = try folder.make("notes.html", Data("<p>hi".utf8))
        let value = try folder.make("value", Data("from a file\r\n".utf8))

        let run = try await Program.run(
            [
                "-F", "a=1;2", "-F", "f=@\(file)", "-F", "v=<\(value)", "-F", "t=x;type=text/css",
                "-F", "g=@\(file);type=text/plain; charset=x;filename=other.txt", "-F", "i=@-;filename=in",
                "-F", "q=  \"a;type=b\"", "--form-string", "s=@no;type=file", url("/take"),
            ],
            input: Data("typed".utf8)
        )
        let request = try await server.waitForRequests(1)[0]
        let parts = try Self.parts(of: request)

        #expect(run.code == 0 && run.text == "taken" && request.method == "POST")
        #expect(request.headers["Content-Length"] == "\(request.bodyByteCount)")
        #expect(
            parts.map(\.body) == [
                "1;2", "<p>hi", "from a file\r\n", "x", "<p>hi", "typed", "a;type=b", "@no;type=file",
            ]
        )
        let named = { (name: String) in "Content-Disposition: form-data; name=\"\(name)\"" }
        #expect(
            parts.map(\.head) == [
                [named("a")], ["\(named("f")); filename=\"notes.html\"", "Content-Type: text/html"], [named("v")],
                [named("t"), "Content-Type: text/css"],
                ["\(named("g")); filename=\"other.txt\"", "Content-Type: text/plain; charset=x"],
                ["\(named("i")); filename=\"in\"", "Content-Type: application/octet-stream"], [named("q")],
                [named("s")],
            ]
        )
    }

    @Test func `the type is that of the name which is sent, or else that of the file's`() async throws {
        let file = try folder.make("notes.html", Data("<p>hi".utf8))
        let other = try folder.make("notes", Data("hi".utf8))
        _ = try await Program.run(
            ["-F", "a=@\(file);filename=b", "-F", "c=@\(file);filename=d.css", "-F", "e=@\(other)"]
                + ["-F", "g=@\(file);filename=h/i", "-F", "j=k; type=text/x; charset=y ", url("/take")]
        )
        let parts = try Self.parts(of: try await server.waitForRequests(1)[0])

        let types = ["text/html", "text/css", "application/octet-stream", "text/html", "text/x; charset=y"]
        #expect(parts.map { $0.head.last } == types.map { "Content-Type: \($0)" })
    }

    @Test func `a name of a file on the command line is sent as it is`() async throws {
        _ = try await Program.run("-F", "a=x;filename=b/c.txt;type=text/x", url("/take"))
        let request = try await server.waitForRequests(1)[0]

        #expect(request.bodyText.contains("name=\"a\"; filename=\"b/c.txt\"\r\n"), "\(request.bodyText)")
        #expect(request.bodyText.contains("Content-Type: text/x\r\n"))
    }

    @Test func `another multipart type has the boundary, too`() async throws {
        _ = try await Program.run("-F", "a=b", "-H", "Content-Type: multipart/mixed", url("/take"))
        let request = try await server.waitForRequests(1)[0]

        #expect(request.headers["Content-Type"]?.hasPrefix("multipart/mixed; boundary=") == true)
        let boundary = request.headers["Content-Type"]?.components(separatedBy: "boundary=").last ?? "?"
        #expect(request.bodyText.hasPrefix("--\(boundary)\r\n"))
    }

    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart",
    ])
    func `a form is not sent with another type or boundary`(type: String) async throws {
        for option in [["-F", "a=b"], ["--part", #"{"name": "a", "value": "b"}"#]] {
            let run = try await Program.run(option + ["-H", "content-type: \(type)", url("/take")])
            #expect(
                run.code == 2 && run.errors.contains(type.contains("boundary") ? "boundary" : "multipart/form-data")
            )
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a large file is sent from the disk, and again after a redirect`() async throws {
        let size = 40_000_000
        let file = try folder.make("big", Data(repeating: 7, count: size))

        let moved = try await Program.run("-L", "-F", "f=@\(file)", url("/moved"))
        let found = try await Program.run("-L", "--keep-post", "302", "-F", "a=b", url("/found"))
        let requests = try await server.waitForRequests(4)

        #expect(moved.code == 0 && moved.text == "taken" && found.code == 0 && found.text == "taken")
        #expect(requests.map(\.method) == ["POST", "POST", "POST", "POST"])
        #expect(requests[0].bodyByteCount > size && requests[1].bodyByteCount == requests[0].bodyByteCount)
        #expect(requests[2].body == requests[3].body && requests[3].bodyByteCount > 0)
    }

    @Test func `a missing file is 26, and nothing is sent`() async throws {
        let run = try await Program.run("-F", "f=@\(folder.path("none"))", url("/take"))

        #expect(run.code == 26)
        #expect(run.errors == "afnet: the form's part \"f\": \(folder.path("none")): No such file or directory\n")
        #expect(server.acceptedConnections == 0)
    }

    @Test func `characters that the head of a part may not have are escaped`() async throws {
        _ = try await Program.run("-F", "a\"\r\nX: y=1;type=text/css", url("/take"))
        let part = try Self.parts(of: try await server.waitForRequests(1)[0])[0]

        #expect(part.head[0] == #"Content-Disposition: form-data; name="a%22%0D%0AX: y""#)
    }

    @Test func `a form is read from left to right`() throws {
        func parts(_ texts: String...) throws -> [FormPart] {
            guard case .form(let parts) = try Arguments(texts.flatMap { ["-F", $0] } + ["u"]).body else { return [] }
            return parts
        }

        #expect(try parts("a=") == [FormPart(name: "a", content: .value(Data()))])
        #expect(try parts("=b") == [FormPart(name: "", content: .value(Data("b".utf8)))])
        #expect(
            try parts("a=@x,y;type=t/u,\"z,;\\\"\";filename=n") == [
                FormPart(name: "a", content: .file("x")), FormPart(name: "a", content: .file("y"), type: "t/u"),
                FormPart(name: "a", content: .file("z,;\""), fileName: "n"),
            ]
        )
        #expect(try parts("a=b;c;TYPE=t/u") == [FormPart(name: "a", content: .value(Data("b;c".utf8)), type: "t/u")])
        #expect(try parts("a=\"open") == [FormPart(name: "a", content: .value(Data("\"open".utf8)))])
        for words in [["-F", "a"], ["-F", "a=@"], ["-F", "a=@x;encoder=base64"], ["-F", "a=@x;type"]] {
            #expect { try Arguments(words + ["u"]) } throws: { ($0 as? ArgumentError)?.code == .badArgument }
        }
        #expect { try Arguments(["-F", "a=b", "-d", "c", "u"]) } throws: { ($0 as? ArgumentError)?.code == .usage }
    }
}
