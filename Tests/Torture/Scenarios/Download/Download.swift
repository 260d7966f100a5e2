import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Files that are fetched.
    static let download = Downloads.plain + Downloads.managed + Downloads.resumed + Downloads.parted
}

enum Downloads {
    static let size = 150_000
    static let body = Data.pattern(size)

    static func server(on stage: Stage) throws -> TestServer {
        try stage.server { server in
            server.route("GET", "/file") { .file(body, entityTag: "\"one\"", to: $0) }
            server.route("GET", "/moved", ServerReply(status: 302).header("Location", "/empty"))
            server.route("GET", "/empty", .data(Data()))
            server.route("GET", "/coded", ServerReply.data(body).compressed(.gzip))
        }
    }

    /// A session whose downloads gather in a folder of the scenario's own.
    static func session(
        on stage: Stage,
        _ server: TestServer,
        delegate: (any URLSessionDelegate)? = nil
    ) -> URLSession {
        stage.session(again: server.url("/again"), delegate: delegate) { $0.temporaryFolder = stage.folder }
    }

    /// How a download ended, and what was in its file while it was there.
    struct Fetched: Sendable {
        let content: Data?
        let status: Int?
        let error: (any Error)?

        init(_ file: URL?, _ response: URLResponse?, _ error: (any Error)?) {
            content = file.flatMap { try? Data(contentsOf: $0) }
            status = (response as? HTTPURLResponse)?.statusCode
            self.error = error
        }

        var resumeData: Data? { (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data }

        /// The content of the file; throws what it ended with.
        var file: Data? {
            get throws {
                if let error { throw error }
                return content
            }
        }
    }

    static func fetched(_ url: URL, in session: URLSession, on stage: Stage) async -> Fetched {
        let completion = stage.completion(of: "download", as: Fetched.self)
        session.downloadTask(with: url) { completion.call(Fetched($0, $1, $2)) }.resume()
        return await completion.value()
    }

    static func fetched(goingOnWith data: Data, in session: URLSession, on stage: Stage) async -> Fetched {
        let completion = stage.completion(of: "rest of a download", as: Fetched.self)
        session.downloadTask(withResumeData: data) { completion.call(Fetched($0, $1, $2)) }.resume()
        return await completion.value()
    }

    static let plain: [Scenario] = [
        Scenario(.download, "file-to-a-handler") { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            let ended = await fetched(server.url("/file"), in: session, on: stage)
            await stage.step("download") {
                let content = try ended.file
                stage.demand(content == body, "\(content?.count ?? -1) bytes that are not the file")
            }
            await stage.demandNoLeftovers(in: stage.folder, parts: ended.resumeData == nil ? 0 : 1)
        },
        Scenario(.download, "file-awaited") { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            await stage.step("download") {
                let (file, response) = try await session.download(from: server.url("/file"))
                stage.demand(try Data(contentsOf: file) == body, "bytes that are not the file")
                stage.demand((response as? HTTPURLResponse)?.statusCode == 200, "another status")
                try FileManager.default.removeItem(at: file)
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "empty-file-after-a-redirect") { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            await stage.step("download") {
                let content = try await fetched(server.url("/moved"), in: session, on: stage).file
                stage.demand(content == Data(), "\(content?.count ?? -1) bytes, not none")
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "coded-file") { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            await stage.step("download") {
                let content = try await fetched(server.url("/coded"), in: session, on: stage).file
                stage.demand(content == body, "\(content?.count ?? -1) bytes that are not the file")
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "data-becomes-a-file") { stage in
            let server = try server(on: stage)
            let book = stage.transferBook(.becomeDownload)
            let session = session(on: stage, server, delegate: book)
            await stage.step("download") {
                let content = try await book.outcome(of: session.dataTask(with: server.url("/file")), on: stage)
                stage.demand(content == body, "\(content.count) bytes that are not the file")
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        // What they share may fail for both.
        Scenario(.download, "two-at-once", mayFail: 2) { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            async let first = fetched(server.url("/file"), in: session, on: stage)
            async let second = fetched(server.url("/file"), in: session, on: stage)
            for ended in await [first, second] {
                await stage.step("download") {
                    let content = try ended.file
                    stage.demand(content == body, "\(content?.count ?? -1) bytes that are not the file")
                }
            }
            await stage.demandNoLeftovers(in: stage.folder, parts: stage.point == nil ? 0 : 2)
        },
    ]

    // MARK: - By managers

    static let managed: [Scenario] = [
        Scenario(.download, "to-its-destination") { stage in
            let server = try server(on: stage)
            let place = stage.folder.appending(path: "there")
            await move(from: server, to: place, on: stage)
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "to-another-disk") { stage in
            let server = try server(on: stage)
            let place = URL(filePath: "/dev/shm/af-torture-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: place) }
            await move(from: server, to: place, on: stage)
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "where-there-is-a-file") { stage in
            let server = try server(on: stage)
            let place = try stage.file("there", holding: Data("former".utf8))
            let manager = stage.manager(at: server.url("/"), again: server.url("/again")) {
                $0.temporaryFolder = stage.folder
            }
            let ended = await downloaded(with: manager, from: server, to: place, on: stage)
            // Foundation's error for it; that of the transfer only if that has failed.
            if let error = ended.error as? URLError { stage.note(error, in: "download") }
            stage.demand(ended.error != nil, "a file that is in the way is no error")
            stage.demand(try Data(contentsOf: place) == Data("former".utf8), "the file that was there is not any more")
            await stage.demandNoLeftovers(in: stage.folder)
        },
    ]

    private static func downloaded(
        with manager: HTTPSessionManager,
        from server: TestServer,
        to place: URL,
        on stage: Stage
    ) async -> Fetched {
        let completion = stage.completion(of: "download", as: Fetched.self)
        let request = URLRequest(url: server.url("/file"))
        let task = manager.downloadTask(with: request, progress: nil) { _, _ in
            place
        } completionHandler: {
            completion.call(Fetched($1, $0, $2))
        }
        task.resume()
        return await completion.value()
    }

    private static func move(from server: TestServer, to place: URL, on stage: Stage) async {
        let manager = stage.manager(at: server.url("/"), again: server.url("/again")) {
            $0.temporaryFolder = stage.folder
        }
        await stage.step("download") {
            let content = try await downloaded(with: manager, from: server, to: place, on: stage).file
            stage.demand(content == body, "\(content?.count ?? -1) bytes that are not the file")
        }
        let there = try? Data(contentsOf: place)
        stage.demand(there == nil || there == body, "half a file at the destination: \(there?.count ?? 0) bytes")
    }
}
