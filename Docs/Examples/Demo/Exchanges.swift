import AFNetworking
import AFNetworkingTesting
import Dispatch
import Foundation

/// What an HTTP client does all day.
struct Exchanges {
    private let site: Site
    private let screen: Screen
    private let claims: Claims
    private let journal: Journal
    private let manager: HTTPSessionManager
    /// Held to a rate at which there is something to see.
    private let transfers: HTTPSessionManager
    private static let bytesPerSecond = 8_000_000

    init(_ site: Site, _ screen: Screen, _ claims: Claims, _ journal: Journal) throws {
        (self.site, self.screen, self.claims, self.journal) = (site, screen, claims, journal)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates([site.authority.certificate, site.otherAuthority.certificate])
        let base = site.server.url("/", host: Site.host)
        manager = HTTPSessionManager(baseURL: base, sessionConfiguration: configuration)
        manager.requestSerializer = JSONRequestSerializer()
        configuration.maximumBytesSentPerSecond = Self.bytesPerSecond
        configuration.maximumBytesReceivedPerSecond = Self.bytesPerSecond
        transfers = HTTPSessionManager(baseURL: base, sessionConfiguration: configuration)
        transfers.completionQueue = DispatchQueue(label: "demo.completion")
        journal.watch(manager)
        journal.watch(transfers)
    }

    func close() {
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        transfers.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    func get() async throws {
        let start = ContinuousClock.now
        let answer = try await manager.get("greeting")
        let time = ContinuousClock.now - start

        let text = (answer.object as? [String: String])?["text"]
        try claims.check("the greeting is decoded", text, is: "hello")
        let status = try claims.check("there is a status", answer.response?.statusCode)
        try claims.check("the status is 200", status, is: 200)
        let handshake = try claims.check("the server speaks TLS", site.server.connections.first?.tls)
        let version = try claims.check("the versions agree", handshake.version)
        try claims.check("it is TLS 1.3", version, is: .tls13)
        try claims.check("a new connection was made", journal.last?.isReusedConnection, is: false)
        let body = "{\"text\": \"\(text ?? "")\"}"
        screen.row("GET", "\(status) \(body), over TLS 1.3 on a new connection", Screen.text(time))
    }

    func post() async throws {
        let order = Order(item: "tea", count: 2)
        let start = ContinuousClock.now
        let receipt = try await manager.post("orders", parameters: order, decode: Receipt.self)
        let time = ContinuousClock.now - start

        let received = try claims.check("the order has arrived", site.server.requests.last)
        try claims.check("it says what it is", received.headers["Content-Type"], is: "application/json")
        try claims.check("the server has the order", try received.json(as: Order.self), is: order)
        try claims.check("the receipt is decoded", receipt, is: Receipt(number: 7, total: 6))
        try claims.check("the connection is the first one", received.connection, is: 1)
        try claims.check("the request is the second one on it", received.indexOnConnection, is: 1)
        let text = "an Order, and back Receipt(number: \(receipt.number), total: \(receipt.total))"
        screen.row("POST JSON", "\(text); same connection", Screen.text(time))
    }

    func upload() async throws {
        let photo = try Site.randomBytes(4 << 20)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString).raw")
        try photo.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let screen = screen
        let start = ContinuousClock.now
        let answer = try await transfers.post(
            "photos",
            parameters: ["title": "Sunset"],
            // A file that cannot be read is missed at the server.
            constructingBodyWith: { form in try? form.appendPart(withFileURL: file, name: "photo") },
            progress: { screen.draw("sending", $0.completedUnitCount, of: $0.totalUnitCount, ", held to 8 MB/s") }
        )
        let time = ContinuousClock.now - start
        screen.endBar()

        let object = try claims.check("there is an answer", answer.object as? [String: Any])
        try claims.check("all bytes have arrived", object["bytes"] as? Int, is: photo.count)
        try claims.check("they are those of the file", object["checksum"] as? String, is: photo.checksum)
        let form = try claims.check("the form has arrived", site.server.requests.last)
        let type = form.headers["Content-Type"] ?? ""
        try claims.check("it is a form of parts", type.hasPrefix("multipart/form-data; boundary="), is: true)
        try claims.check("it has the title", form.body.range(of: Data("Sunset".utf8)) != nil, is: true)
        let text = "a form of title and file; checksum \(photo.checksum) on both sides"
        screen.row("upload", text, Screen.text(time))
    }

    func cacheHit() async throws {
        let first = try await manager.get("timetable")
        try claims.check("the first answer comes from the server", journal.last?.resourceFetchType, is: .networkLoad)
        let start = ContinuousClock.now
        let second = try await manager.get("timetable")
        let time = ContinuousClock.now - start

        try claims.check("the second one does not", journal.last?.resourceFetchType, is: .localCache)
        let (one, other) = (first.object as? [String: String], second.object as? [String: String])
        try claims.check("they are the same", other, is: ["next": "10:42"])
        try claims.check("both of them are", one, is: other)
        let asked = site.server.requests.count { $0.path == "/timetable" }
        try claims.check("the server was asked once", asked, is: 1)
        screen.row("cache hit", "asked for twice, \(asked) request at the server; from memory", Screen.text(time))
    }

    // MARK: - Streams

    func events() async throws {
        let start = ContinuousClock.now
        var departures: [String] = []
        for try await event in try manager.events("departures", options: EventStreamOptions(reconnection: .never)) {
            departures.append("\(event.name) \(event.data)")
        }
        let time = ContinuousClock.now - start

        try claims.check("each event is there", departures, is: ["delayed 10:42", "delayed 10:50", "departed 10:51"])
        screen.row("events", "\(departures.count) of them: \(departures.joined(separator: ", "))", Screen.text(time))
    }

    func webSocket() async throws {
        let start = ContinuousClock.now
        let task = try manager.webSocket("chat", options: WebSocketOptions(protocols: ["chat.v1"]))
        task.resume()
        try await task.send(.string("hello"))
        let answer = try await task.receive()
        task.cancel(with: .normalClosure, reason: nil)
        for try await _ in task.messages {}
        let time = ContinuousClock.now - start

        try claims.check("the answer is the server's", answer, is: .string("HELLO"))
        try claims.check("the subprotocol is agreed on", task.subprotocol, is: "chat.v1")
        let extensions = (task.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Sec-WebSocket-Extensions")
        try claims.check("messages are compressed", extensions?.hasPrefix("permessage-deflate"), is: true)
        try claims.check("both sides have closed", task.closeCode, is: .normalClosure)
        screen.row("WebSocket", "hello, and back HELLO, compressed; closed by both sides", Screen.text(time))
    }

    // MARK: - A download that breaks off

    func resumedDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("film")
        let start = ContinuousClock.now

        let broken = await download("receiving", remark: ", then the server hangs up") { done in
            let request = URLRequest(url: site.server.url("/film", host: Site.host))
            return transfers.downloadTask(with: request, progress: nil, destination: { _, _ in file }) {
                done($1, $2)
            }
        }
        let error = try claims.check("the server breaks off", broken.error as? URLError)
        try claims.check("the error says so", error.code, is: .networkConnectionLost)
        let key = NSURLSessionDownloadTaskResumeData
        let resumeData = try claims.check("there is resume data", error.userInfo[key] as? Data)

        let whole = await download("the rest", remark: "") { done in
            transfers.downloadTask(withResumeData: resumeData, progress: nil, destination: { _, _ in file }) {
                done($1, $2)
            }
        }
        let time = ContinuousClock.now - start
        try claims.check("the rest arrives", whole.error.map { "\($0)" }, is: nil)
        let requests = site.server.requests.filter { $0.path == "/film" }
        try claims.check("two requests are made", requests.count, is: 2)
        let range = try claims.check("a part is asked for", requests.last?.headers["Range"])
        try claims.check("it is what was missing", range, is: "bytes=\(Site.cut)-")
        try claims.check("of the same file", requests.last?.headers["If-Range"], is: "\"film-1\"")
        let checksum = try Data(contentsOf: file).checksum
        try claims.check("the file is the server's", checksum, is: site.film.checksum)
        let text = "resumed, Range: \(range); checksum \(checksum) on both sides"
        screen.row("download", text, Screen.text(time))
    }

    private struct Outcome: Sendable {
        var file: URL?
        var error: (any Error)?
    }

    private func download(
        _ title: String,
        remark: String,
        _ make: (@escaping @Sendable (URL?, (any Error)?) -> Void) -> URLSessionDownloadTask
    ) async -> Outcome {
        let (outcomes, ending) = AsyncStream.makeStream(of: Outcome.self)
        let task = make { file, error in
            ending.yield(Outcome(file: file, error: error))
            ending.finish()
        }
        let total = Int64(site.film.count)
        let steps = transfers.progressSteps(of: task)
        task.resume()
        for await step in steps where step.received > 0 { screen.draw(title, step.received, of: total, remark) }
        // Of one that breaks off the last step may be missing.
        screen.draw(title, task.countOfBytesReceived, of: total, remark)
        screen.endBar()
        for await outcome in outcomes { return outcome }
        return Outcome()
    }
}
