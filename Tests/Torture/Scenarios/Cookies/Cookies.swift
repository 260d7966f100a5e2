import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Cookies that are kept and sent.
    static let cookies = Cookies.inMemory + Cookies.inFiles
}

private enum Cookies {
    /// `/set` gives the cookie `a`, with the value of the query; `/seen` says what was sent.
    private static func server(on stage: Stage) throws -> TestServer {
        try stage.server { server in
            server.route("GET", "/set") { request in
                .text("set").header("Set-Cookie", "a=\(request.query ?? ""); Max-Age=600; Path=/")
            }
            server.route("GET", "/end", ServerReply.text("ended").header("Set-Cookie", "a=; Max-Age=0; Path=/"))
            server.route("GET", "/seen") { .text($0.headers["Cookie"] ?? "none") }
            let moved = ServerReply(status: 302).header("Location", "/seen").header("Set-Cookie", "a=5")
            server.route("GET", "/moved", moved)
        }
    }

    private static func session(
        _ storage: HTTPCookieStorage,
        _ server: TestServer,
        on stage: Stage
    ) -> URLSession {
        stage.session(again: server.url("/again")) { $0.httpCookieStorage = storage }
    }

    /// What a store has in its file, as the next start of the program finds it.
    private static func kept(in file: URL, on stage: Stage) -> [String]? {
        let storage = HTTPCookieStorage(fileURL: file)
        // If the disk says that there is no file, the storage has read it without an error.
        guard storage.fileError == nil, stage.point?.fault.word != "ENOENT" else { return nil }
        return (storage.cookies ?? []).map { "\($0.name)=\($0.value)" }.sorted()
    }

    static let inMemory: [Scenario] = [
        Scenario(.cookies, "set-and-sent") { stage in
            let server = try server(on: stage)
            let session = session(HTTPCookieStorage(), server, on: stage)
            let isSet = await stage.load(server.url("/set?1"), in: session, expecting: "set") != nil
            if isSet { await stage.load(server.url("/seen"), in: session, expecting: "a=1") }
            let isEnded = await stage.load(server.url("/end"), in: session, expecting: "ended") != nil
            if isEnded { await stage.load(server.url("/seen"), in: session, expecting: "none") }
        },
        Scenario(.cookies, "set-on-the-way") { stage in
            let server = try server(on: stage)
            let session = session(HTTPCookieStorage(), server, on: stage)
            await stage.load(server.url("/moved"), in: session, expecting: "a=5")
        },
        Scenario(.cookies, "of-two-sessions") { stage in
            let server = try server(on: stage)
            let storage = HTTPCookieStorage()
            let (first, second) = (session(storage, server, on: stage), session(storage, server, on: stage))
            let others = session(HTTPCookieStorage(), server, on: stage)
            let isSet = await stage.load(server.url("/set?1"), in: first, expecting: "set") != nil
            if isSet { await stage.load(server.url("/seen"), in: second, expecting: "a=1") }
            await stage.load(server.url("/seen"), in: others, expecting: "none")
        },
    ]

    static let inFiles: [Scenario] = [
        Scenario(.cookies, "kept-in-a-file") { stage in
            let server = try server(on: stage)
            let file = stage.folder.appending(path: "cookies")
            let storage = HTTPCookieStorage(fileURL: file)
            let session = session(storage, server, on: stage)
            let isSet = await stage.load(server.url("/set?1"), in: session, expecting: "set") != nil
            let isSaved = await stage.step("save") { try storage.flush() } != nil
            let found = kept(in: file, on: stage)
            if isSet, isSaved { stage.demand(found == ["a=1"] || stage.point != nil && found == nil, "\(found ?? [])") }
            stage.demand(found?.allSatisfy { $0 == "a=1" } != false, "\(found ?? [])")
        },
        Scenario(.cookies, "replaced-in-a-file") { stage in
            let server = try server(on: stage)
            let file = stage.folder.appending(path: "cookies")
            let first = HTTPCookieStorage(fileURL: file)
            let one = session(first, server, on: stage)
            let isSet = await stage.load(server.url("/set?1"), in: one, expecting: "set") != nil
            let isSaved = await stage.step("save") { try first.flush() } != nil
            let next = HTTPCookieStorage(fileURL: file)
            let other = session(next, server, on: stage)
            let isReplaced = await stage.load(server.url("/set?2"), in: other, expecting: "set") != nil
            // One that could not read its file leaves it alone.
            let canSave = next.fileError == nil
            stage.demand(canSave || stage.point != nil, "its own file cannot be read")
            let isSavedAgain = canSave ? await stage.step("save again") { try next.flush() } != nil : false
            if !canSave { stage.demand((try? next.flush()) == nil, "it says that it was saved") }
            guard let found = kept(in: file, on: stage) else { return }
            if isReplaced, isSavedAgain {
                stage.demand(found == ["a=2"], "\(found), not the cookie that was saved last")
            } else if isSet, isSaved {
                stage.demand([["a=1"], ["a=2"]].contains(found), "\(found), not one of those that were saved")
            }
        },
        Scenario(.cookies, "file-of-something-else") { stage in
            let server = try server(on: stage)
            // If the disk says that there is no file, the storage makes one.
            if stage.point?.fault.word == "ENOENT" { return }
            let content = Data("no cookies, but a diary".utf8)
            let file = try stage.file("cookies", holding: content)
            let storage = HTTPCookieStorage(fileURL: file)
            stage.demand(storage.fileError != nil, "another file is taken for one of cookies")
            let session = session(storage, server, on: stage)
            let isSet = await stage.load(server.url("/set?1"), in: session, expecting: "set") != nil
            stage.demand((try? storage.flush()) == nil, "it says that it was saved")
            stage.demand((try? Data(contentsOf: file)) == content, "the file was changed")
            if isSet { await stage.load(server.url("/seen"), in: session, expecting: "a=1") }
        },
    ]
}
