import AFBase
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Downloads {
    /// What was broken off is gone on with.
    static let resumed: [Scenario] = [
        Scenario(.download, "cancelled-and-gone-on-with") { stage in
            let server = try breakingOff(on: stage, .stalling)
            let session = session(on: stage, server)
            if let data = await cancelled(server.url("/file"), in: session, on: stage) {
                await goOn(with: data, in: session, expecting: body, from: server, on: stage)
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "cancelled-without-resume-data") { stage in
            let server = try breakingOff(on: stage, .stalling)
            let session = session(on: stage, server)
            await cancelForGood(server.url("/file"), in: session, on: stage)
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "broken-off-and-gone-on-with") { stage in
            let server = try breakingOff(on: stage, .closing)
            let session = session(on: stage, server)
            if let data = await brokenOff(server.url("/file"), in: session, on: stage) {
                await goOn(with: data, in: session, expecting: body, from: server, on: stage)
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "changed-meanwhile") { stage in
            let other = Data.pattern(size, from: 500)
            let server = try breakingOff(on: stage, .closing) { .file(other, entityTag: "\"two\"", to: $0) }
            let session = session(on: stage, server)
            if let data = await brokenOff(server.url("/file"), in: session, on: stage) {
                await goOn(with: data, in: session, expecting: other, from: server, on: stage)
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
        Scenario(.download, "shorter-meanwhile") { stage in
            let other = Data.pattern(20_000, from: 500)
            let server = try breakingOff(on: stage, .closing) { request in
                request.headers["Range"] == nil
                    ? .file(other, entityTag: "\"two\"", to: request)
                    : ServerReply(status: 416).header("Content-Range", "bytes */\(other.count)")
            }
            let session = session(on: stage, server)
            if let data = await brokenOff(server.url("/file"), in: session, on: stage) {
                await goOn(with: data, in: session, expecting: other, from: server, on: stage)
            }
            await stage.demandNoLeftovers(in: stage.folder)
        },
    ]

    private static let cut = 90_000

    private enum Ending {
        case stalling, closing
    }

    @Sendable private static func whole(_ request: RecordedRequest) -> ServerReply {
        .file(body, entityTag: "\"one\"", to: request)
    }

    /// Answers the first request with the beginning of the file only.
    private static func breakingOff(
        on stage: Stage,
        _ ending: Ending,
        then answer: @escaping @Sendable (RecordedRequest) -> ServerReply = whole
    ) throws -> TestServer {
        let isFirst = Lock(true)
        return try stage.server { server in
            server.route("GET", "/file") { request in
                let isCut = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isCut else { return answer(request) }
                return ending == .stalling ? whole(request).stalling(after: cut) : whole(request).closing(after: cut)
            }
        }
    }

    /// Starts a download and waits until no more of it comes, or it has ended.
    private static func begun(
        _ url: URL,
        in session: URLSession,
        _ completion: Completion<Fetched>
    ) async -> URLSessionDownloadTask {
        let task = session.downloadTask(with: url) { completion.call(Fetched($0, $1, $2)) }
        task.resume()
        _ = await Patience.until { task.countOfBytesReceived == cut || task.state == .completed }
        return task
    }

    /// Cancels a download in its middle.
    ///
    /// - Returns: What it can be gone on with; nil if there is nothing, which only a fault explains.
    private static func cancelled(_ url: URL, in session: URLSession, on stage: Stage) async -> Data? {
        let completion = stage.completion(of: "download", as: Fetched.self)
        let task = await begun(url, in: session, completion)
        let data = await task.cancelByProducingResumeData()
        let ended = await completion.value()
        await stage.step("download", orCodes: [-999]) {
            if let error = ended.error as? URLError, error.code == .cancelled {
                stage.demand(ended.resumeData == data, "other resume data")
                if data == nil { throw error }
            } else {
                _ = try ended.file
                stage.find("a whole file although it was cancelled")
            }
        }
        return data ?? ended.resumeData
    }

    private static func cancelForGood(_ url: URL, in session: URLSession, on stage: Stage) async {
        let completion = stage.completion(of: "download", as: Fetched.self)
        await begun(url, in: session, completion).cancel()
        let ended = await completion.value()
        guard let error = ended.error else { return stage.find("a whole file although it was cancelled") }
        if (error as? URLError)?.code == .cancelled {
            stage.demand(ended.resumeData == nil, "resume data that the caller did not ask for")
        } else {
            stage.note(error, in: "download")
        }
    }

    /// Has the server break off a download.
    private static func brokenOff(_ url: URL, in session: URLSession, on stage: Stage) async -> Data? {
        let ended = await fetched(url, in: session, on: stage)
        await stage.step("download") {
            guard let error = ended.error else { return stage.find("a whole file although it was broken off") }
            if ended.resumeData == nil { throw error }
        }
        return ended.resumeData
    }

    private static func goOn(
        with data: Data,
        in session: URLSession,
        expecting content: Data,
        from server: TestServer,
        on stage: Stage
    ) async {
        await stage.step("rest") {
            let found = try await fetched(goingOnWith: data, in: session, on: stage).file
            stage.demand(found == content, "\(found?.count ?? -1) bytes that are not the file")
        }
        guard stage.point == nil else { return }
        stage.demand(server.requests.contains { $0.headers["Range"] == "bytes=\(cut)-" }, "no range was asked for")
    }
}
