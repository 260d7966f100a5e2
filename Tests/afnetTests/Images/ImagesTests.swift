import AFImages
import Foundation
import Testing
import afnet

/// `afnet images`.
@Suite(.serialized) struct ImagesTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        let picture = try Self.picture([Self.red, Self.green, Self.blue, Self.clear], width: 2)
        let png = try picture.pngData()
        server.route("GET", "/a.png", .data(png, type: "image/png"))
        server.route("GET", "/slow.png", .data(png, type: "image/png").delayed(by: .milliseconds(50)))
        server.route("GET", "/moved.png", .status(302).header("Location", "/a.png"))
        server.route("GET", "/gone.png", .data(png, type: "image/png").status(404))
        server.route("GET", "/page.png", .text("<html>"))
        server.route("GET", "/odd.png", .data(png, type: "application/octet-stream"))
    }

    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let green: [UInt8] = [0, 255, 0, 255]
    private static let blue: [UInt8] = [0, 0, 255, 255]
    private static let clear: [UInt8] = [0, 0, 0, 0]

    private static func picture(_ pixels: [[UInt8]], width: Int) throws -> Image {
        try Image(width: width, height: pixels.count / width, pixels: pixels.flatMap { $0 })
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    // MARK: - The command

    @Test func `images are named in the order of the command line, and not drawn into files`() async throws {
        let run = try await Program.run("images", url("/slow.png"), url("/a.png"), url("/odd.png"))

        #expect(run.code == 0 && run.errors == "")
        let lines = ["/slow.png", "/a.png", "/odd.png"].map { "\(url($0)): PNG 2×2\n" }
        #expect(run.text == lines.joined())
        #expect(server.requests.allSatisfy { $0.headers["Accept"] == "image/*" })
    }

    @Test func `redirects are followed, and --graphics blocks draws blocks`() async throws {
        let run = try await Program.run("images", "--graphics", "blocks", url("/moved.png"))

        let drawing =
            "\u{1B}[48;2;0;0;255m\u{1B}[38;2;255;0;0m▀\u{1B}[49m\u{1B}[38;2;0;255;0m▀\u{1B}[0m\n"
        #expect(run.code == 0)
        #expect(run.text == "\(url("/moved.png")): PNG 2×2\n" + drawing)
    }

    @Test func `the next run has images from the cache`() async throws {
        let png = try Self.picture([Self.red], width: 1).pngData()
        let kept = ServerReply.data(png, type: "image/png").header("Cache-Control", "max-age=60")
        server.route("GET", "/kept/:number", kept)
        let folder = try Program.Folder()
        let urls = (1...2).map { url("/kept/\($0)") }
        // The last one might be on the disk in time by chance.
        for round in 1...4 {
            for _ in 1...2 {
                let run = try await Program.run(["images", "--cache", folder.path("\(round)")] + urls)
                #expect(run.code == 0, "\(run)")
            }
        }
        #expect(server.requests.count == 8)
    }

    @Test func `images are loaded with credentials and cookies`() async throws {
        server.install(.digestAuthentication)
        let png = try Self.picture([Self.red], width: 1).pngData()
        server.route("GET", "/bake", ServerReply.data(png, type: "image/png").header("Set-Cookie", "s=1; Max-Age=99"))
        let folder = try Program.Folder()
        let login = url("/digest-auth/auth/me/secret")

        // With the right password the answer is JSON and not an image; with a wrong one it is 401.
        #expect(try await Program.run("images", "--auth", "digest", "-u", "me:secret", login).code == 91)
        let wrong = try await Program.run("images", "--digest", "-u", "me:guess", login)
        #expect(wrong.code == 22 && !wrong.errors.contains("guess"), "\(wrong)")
        #expect(try await Program.run("images", "-c", folder.path("jar"), "-b", "x=2", url("/bake")).code == 0)
        #expect(try await Program.run("images", "-b", folder.path("jar"), url("/a.png")).code == 0)
        #expect(server.requests.suffix(2).map { $0.headers["Cookie"] } == ["x=2", "s=1"])
    }

    @Test func `credentials of images stay with their origin, unless there is --location-trusted`() async throws {
        let other = try TestServer()
        other.route("GET", "/a.png", .data(try Self.picture([Self.red], width: 1).pngData(), type: "image/png"))
        server.route("GET", "/away.png", .status(302).header("Location", other.url("/a.png").absoluteString))

        #expect(try await Program.run("images", "-u", "me:secret", url("/away.png")).code == 0)
        #expect(try await Program.run("images", "--location-trusted", "-u", "me:secret", url("/away.png")).code == 0)
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil, "Basic bWU6c2VjcmV0"])
    }

    @Test(arguments: [("/gone.png", 22), ("/page.png", 91)] as [(String, Int32)])
    func `a file that is not an image is reported, and the others are shown`(path: String, code: Int32) async throws {
        let run = try await Program.run("images", url(path), url("/a.png"))

        #expect(run.code == code)
        #expect(run.errors.hasPrefix("afnet: ") && run.text == "\(url("/a.png")): PNG 2×2\n")
    }

    @Test func `failures have curl's codes`() async throws {
        #expect(try await Program.run("images", "--max-filesize", "10", url("/a.png")).code == 63)
        #expect(try await Program.run("images", "not a url").code == 3)
        #expect(try await Program.run("images", "http://127.0.0.1:1/a.png").code == 7)
        #expect(try await Program.runWithoutReader("images", url("/a.png")).code == 23)
        #expect(try await Program.run("images", "-s", url("/page.png")).errors == "")
    }

    @Test func `a terminal that does not answer gets blocks, below a line that is cleared`() async throws {
        let run = try await Program.runOnTerminal("images", url("/slow.png"))

        #expect(run.code == 0)
        #expect(run.text.contains("▀"))
        #expect(run.text.contains("\r\u{1B}[K"))
    }

    @Test func `the command takes the options of images, and no others`() throws {
        let arguments = try Arguments(["images", "--graphics", "sixel", "--width", "40", "-H", "A: b", "u", "v"])
        #expect(arguments.action == .images && arguments.graphics == .sixel && arguments.width == 40)
        #expect(arguments.urls == ["u", "v"])
        for words in [
            ["images"], ["images", "-o", "f", "u"], ["images", "--graphics", "x", "u"],
            ["images", "--width", "0", "u"],
            ["--width", "5", "u"], ["--graphics", "none", "u"], ["images", "-d", "x", "u"],
        ] {
            #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
        }
        #expect { try Arguments.groups(["images", "u", "--next", "v"]) } throws: {
            ($0 as? ArgumentError)?.code == .usage
        }
    }

    // MARK: - Drawing

    @Test func `an image is scaled down to fit, and never enlarged`() throws {
        let wide = try Self.picture(Array(repeating: Self.red, count: 40), width: 20)
        #expect(Raster.size(of: wide, fitting: (10, 10)) == (10, 1))
        #expect(Raster.size(of: wide, fitting: (100, 100)) == (20, 2))
        #expect(Raster.size(of: wide, fitting: (0, -5)) == (1, 1))

        let mixed = try Self.picture([Self.red, Self.blue, Self.red, Self.clear], width: 2)
        let one = Raster(mixed, fitting: (1, 1))
        #expect(one.pixels == [Raster.Pixel(red: 170, green: 0, blue: 85)])
        let clear = try Self.picture([Self.red, Self.clear, Self.clear, Self.clear], width: 2)
        #expect(Raster(clear, fitting: (1, 1)).pixels == [nil])
        #expect(try Raster(clear, fitting: (2, 2)).image == clear)
    }

    @Test func `colours are set where they change, and the background shows through`() throws {
        let rows = [
            [Self.red, Self.red, Self.clear], [Self.clear, Self.clear, Self.clear], [Self.clear, Self.blue, Self.red],
        ]
        let raster = Raster(try Self.picture(rows.flatMap { $0 }, width: 3), fitting: (9, 9))
        let text = HalfBlocks.text(raster)

        #expect(
            text == "\u{1B}[38;2;255;0;0m▀▀ \u{1B}[0m\n"
                + " \u{1B}[38;2;0;0;255m▀\u{1B}[38;2;255;0;0m▀\u{1B}[0m\n"
        )
    }

    @Test func `sixels are six rows of each colour`() throws {
        let raster = Raster(try Self.picture(Array(repeating: Self.red, count: 8 * 7), width: 8), fitting: (8, 7))
        let text = Sixels.text(raster)

        #expect(text == "\u{1B}P0;1;0q\"1;1;8;7#210;2;100;0;0#210!8~$-#210!8@$-\u{1B}\\")
    }

    @Test func `kitty graphics send the file in pieces`() {
        let text = KittyGraphics.text(png: Data(count: 4000), columns: 7)
        let pieces = text.components(separatedBy: "\u{1B}\\")

        #expect(pieces.count == 3 && pieces[2] == "\n")
        #expect(pieces[0].hasPrefix("\u{1B}_Ga=T,f=100,c=7,q=2,m=1;AAAA") && pieces[0].count == 4096 + 25)
        #expect(pieces[1].hasPrefix("\u{1B}_Gm=0;AAAA"))
    }

    @Test(
        arguments: [
            ("", false, .blocks), ("\u{1B}[?6", false, .blocks), ("\u{1B}[?62;22c", true, .blocks),
            ("\u{1B}[?62;4;22c", true, .sixel), ("\u{1B}[?64;40c", true, .blocks),
            ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c", true, .kitty),
            ("\u{1B}_Gi=31;EINVAL\u{1B}\\\u{1B}[?62;4c", true, .sixel), ("noise\u{1B}[?4c", true, .sixel),
        ] as [(String, Bool, GraphicsMode)]
    )
    func `the mode follows from the terminal's answer`(answer: String, isComplete: Bool, mode: GraphicsMode) {
        #expect(TerminalQuestion.isComplete(Array(answer.utf8)) == isComplete)
        #expect(TerminalQuestion.mode(answer: Array(answer.utf8)) == mode)
    }
}
