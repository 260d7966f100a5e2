import AFNetworking
import AFNetworkingTesting
import Dispatch
import Foundation

/// Downloads a file: `swift run Downloader URL FILE`. Interrupt it with Control-C, and run it again to go on. With a number
/// behind them, so many requests load it side by side.
///
/// Without arguments it downloads from a server of its own, which breaks off twice.
@main struct Downloader {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let parts = arguments.dropFirst(2).first.map { Int($0) }
        switch (arguments.first.flatMap { URL(string: $0) }, arguments.dropFirst().first, parts) {
        case (let url?, let path?, nil):
            await exit(load(ResumableDownload(of: url, to: URL(fileURLWithPath: path))))
        case (let url?, let path?, let parts??):
            await exit(loadInParts(PartedDownload(of: url, to: URL(fileURLWithPath: path), inParts: parts)))
        case _ where arguments.isEmpty: await exit(rehearse())
        default:
            print("usage: Downloader URL FILE [PARTS]")
            exit(2)
        }
    }

    /// - Returns: The exit code.
    static func load(_ download: ResumableDownload) async -> Int32 {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in starts { break }
            var line = ProgressLine()
            var latest: TransferProgress?
            defer { if let latest { print((isTerminal ? "\r\u{1B}[K" : "") + line.text(latest)) } }
            try await download.run { progress in
                latest = progress
                guard let text = line.line(progress), isTerminal else { return }
                print("\r\u{1B}[K" + text, terminator: "")
                fflush(nil)
            }
        }
        let interrupt = await interruption { task.cancel() }
        defer { interrupt.cancel() }
        start.finish()
        do {
            try await task.value
            print("\(download.file.path) is complete")
            return 0
        } catch {
            let goesOn = FileManager.default.fileExists(atPath: download.resumeFile.path)
            print("\(download.file.path) is not complete: \(error.localizedDescription)")
            if goesOn { print("the same command goes on where this one ended") }
            return 1
        }
    }

    /// - Returns: The exit code. What ends the program ends the download; the same command goes on with it.
    static func loadInParts(_ download: PartedDownload) async -> Int32 {
        do {
            try await download.run { text in
                guard isatty(STDOUT_FILENO) == 1 else { return }
                print("\r\u{1B}[K" + text, terminator: "")
                fflush(nil)
            }
            print("\(download.file.path) is complete")
            return 0
        } catch {
            print("\(download.file.path) is not complete: \(error.localizedDescription)")
            return 1
        }
    }

    /// Control-C does not end the program any more, but calls `handler`.
    private static func interruption(_ handler: @escaping @Sendable () -> Void) async -> any DispatchSourceSignal {
        // Before the source is made, which on Linux would not hear anything otherwise.
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { handler() }
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.resume()
        }
        return source
    }

    // MARK: - A server to try it with

    private static func rehearse() async -> Int32 {
        do {
            let server = try filmServer(of: Data(repeating: 7, count: 16 << 20), partsOf: 6 << 20)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.maximumBytesReceivedPerSecond = 8 << 20
            let file = folder.appendingPathComponent("film")
            var download = ResumableDownload(of: server.url("/film"), to: file, configuration: configuration)
            download.pause = .milliseconds(100)

            let code = await load(download)
            for request in server.requests { print("asked for:", request.headers["Range"] ?? "the whole") }
            return code
        } catch {
            print(error)
            return 1
        }
    }

    /// A server that hangs up whenever it has sent so many bytes.
    static func filmServer(of film: Data, partsOf count: Int) throws -> TestServer {
        let server = try TestServer()
        server.route("GET", "/film") { .file(film, entityTag: "\"1\"", to: $0).closing(after: count) }
        return server
    }
}
