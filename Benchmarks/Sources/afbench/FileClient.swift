import AFURLSession
import Foundation
import Harness

/// Writes bodies to a file, one after the other.
final class FileClient: Client {
    private let writer: FileWriter
    private let session: URLSession

    init(_ bench: Bench, _ path: String) {
        writer = FileWriter(bench, path)
        session = bench.session(delegate: writer)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        writer.starter.begin(url, inFlight: inFlight, tally, on: session)
    }
}

/// Only ever called on the delegate queue, a task at a time.
private final class FileWriter: URLSessionDataDelegate, @unchecked Sendable {
    let starter: TaskStarter
    private let bench: Bench
    private let path: String
    private var file: FileHandle?

    init(_ bench: Bench, _ path: String) {
        (self.bench, self.path) = (bench, path)
        starter = TaskStarter(bench)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        starter.count(data)
        do {
            if file == nil { try open() }
            try file?.write(contentsOf: data)
        } catch {
            bench.arguments.fail("cannot write to \(path): \(error)")
        }
    }

    private func open() throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        try? file?.close()
        file = nil
        starter.finish(task, error, on: session)
    }
}
