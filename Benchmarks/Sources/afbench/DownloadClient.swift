import AFURLSession
import Foundation
import Harness

/// Download tasks with completion handlers, which move their file and start the next.
final class DownloadClient: Client {
    private let bench: Bench
    private let session: URLSession
    private let out: URL

    init(_ bench: Bench, _ path: String) {
        self.bench = bench
        session = bench.session()
        out = URL(fileURLWithPath: path)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let request = URLRequest(url: url)
        for _ in 0..<inFlight { startNext(request, tally) }
    }

    private func startNext(_ request: URLRequest, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        // The limit, too, begins with an empty file: two at a time take twice the memory.
        unlink(out.path)
        let task = session.downloadTask(with: request) { file, response, error in
            self.bench.check(response, error)
            if let file { self.keep(file) }
            tally.count(Int(response?.expectedContentLength ?? 0))
            tally.finish(number)
            self.startNext(request, tally)
        }
        task.resume()
    }

    /// A rename, if both are on the same file system; a copy otherwise.
    private func keep(_ file: URL) {
        guard rename(file.path, out.path) != 0 else { return }
        do {
            try? FileManager.default.removeItem(at: out)
            try FileManager.default.moveItem(at: file, to: out)
        } catch {
            bench.arguments.fail("cannot move the download to \(out.path): \(error)")
        }
    }
}
