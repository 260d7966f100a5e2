import AFNetworkingTesting
import Foundation
import Testing

@testable import Demo

@Suite struct DemoTests {
    private static let titles = [
        "GET", "POST JSON", "upload", "download", "cache hit", "events", "WebSocket", "pinned GET", "impostor",
        "its side", "without pins",
    ]

    @Test func `the demo says what it claims, on one screen, and exits with 0`() async throws {
        let run = try await Example.run("Demo")

        #expect(run.code == 0, "\(run.output)")
        #expect(run.errors == "")
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 30)
        #expect(lines.filter { $0.count > Screen.width } == [])
        for title in Self.titles { #expect(lines.count { $0.hasPrefix("ok  \(title) ") } == 1, "\(title)") }
        #expect(run.lines.last?.hasPrefix("All as claimed: ") == true)
        // Bars appear once, at their end, where the output is no terminal.
        #expect(lines.count { $0.contains("[###") } == 3)
        #expect(!run.output.contains("\r") && !run.output.contains("\u{1B}"))
    }

    @Test func `the demo exits with 1 where something goes wrong, and says what`() async throws {
        let run = try await Example.start(Example.path("Demo"), [], environment: ["TMPDIR": "/nowhere"])

        #expect(run.code == 1)
        #expect(run.lines.last?.hasPrefix("demo: ") == true, "\(run.output)")
        #expect(run.output.contains("ok  POST JSON ") && !run.output.contains("ok  upload "))
    }

    @Test func `a line is only said when what it says is so`() {
        let claims = Claims()

        #expect(throws: Never.self) { try claims.check("one is one", 1, is: 1) }
        let error = #expect(throws: FalseClaim.self) { try claims.check("one is two", 1, is: 2) }
        let absence = #expect(throws: FalseClaim.self) { try claims.check("there is one", Int?.none) }

        #expect(error?.description == "not as claimed: one is two. Expected 2, saw 1.")
        #expect(absence?.description == "not as claimed: there is one. Expected Int, saw nothing.")
        #expect(claims.count == 1)
    }

    @Test func `an impostor with the pinned key ends the demo`() async throws {
        let site = try Site()
        try site.impostor.use(tls: ServerTLS(site.certificate))

        let (error, output) = await failure(of: site)

        #expect(error?.claim == "the impostor is refused")
        #expect(output.contains("pinned GET") && !output.contains("impostor"))
    }

    @Test func `a rest that is another file's ends the demo`() async throws {
        let site = try Site()
        let (film, other) = (site.film, try Site.randomBytes(site.film.count))
        site.server.route("GET", "/film") { request in
            let isRest = request.headers["Range"] != nil
            let reply = ServerReply.file(isRest ? other : film, entityTag: "\"film-1\"", to: request)
            return isRest ? reply : reply.closing(after: Site.cut)
        }

        let (error, output) = await failure(of: site)

        #expect(error?.claim == "the file is the server's")
        #expect(!output.contains("resumed, Range"))
    }

    @Test func `an answer that is not kept ends the demo`() async throws {
        let site = try Site()
        site.server.route("GET", "/timetable", .json(#"{"next": "10:42"}"#).header("Cache-Control", "no-store"))

        let (error, _) = await failure(of: site)

        #expect(error?.claim == "the second one does not")
    }

    @Test func `bars are drawn again and again on a terminal, and colours are for terminals that want them`() {
        let text = Box("")
        let screen = Screen(isTerminal: true, isColoured: true) { piece in text.change { $0 += piece } }
        screen.draw("upload", 1_000_000, of: 4_000_000)
        screen.draw("upload", 4_000_000, of: 4_000_000)
        screen.endBar()
        screen.row("GET", "200", "1.0 ms")

        let redrawn = text.value.components(separatedBy: "\r\u{1B}[K")
        #expect(redrawn.count == 4)
        #expect(redrawn.last?.contains("4.0 of 4.0 MB\n") == true)
        #expect(text.value.contains("\u{1B}[32mok\u{1B}[0m"))

        let plain = Box("")
        let other = Screen(isTerminal: false, isColoured: false) { piece in plain.change { $0 += piece } }
        other.draw("upload", 1_000_000, of: 4_000_000)
        other.draw("upload", 4_000_000, of: 4_000_000)
        other.endBar()
        #expect(plain.value == "    upload          [##############################] 4.0 of 4.0 MB\n")
    }

    private func failure(of site: Site) async -> (FalseClaim?, String) {
        let text = Box("")
        let screen = Screen(isTerminal: false, isColoured: false) { piece in text.change { $0 += piece } }
        do {
            try await Demo.run(site, on: screen)
            return (nil, text.value)
        } catch {
            return (error as? FalseClaim, text.value)
        }
    }
}
