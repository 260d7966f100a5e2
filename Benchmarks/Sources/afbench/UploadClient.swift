import AFURLSession
import Foundation
import Harness

/// Upload tasks with completion handlers, each of which starts the next.
final class UploadClient: Client {
    private let bench: Bench
    private let session: URLSession
    private let body: Arguments.Body
    private let byteCount: Int

    init(_ bench: Bench, _ body: Arguments.Body) {
        (self.bench, self.body) = (bench, body)
        session = bench.session()
        switch body {
        case .file(let path):
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let size = attributes?[.size] as? Int else { bench.arguments.refuse("cannot read \(path)") }
            byteCount = size
        case .stream(let length), .data(let length):
            byteCount = length
        }
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { startNext(url, tally) }
    }

    private func startNext(_ url: URL, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        let task = task(url) { _, response, error in
            self.bench.check(response, error)
            tally.count(self.byteCount)
            tally.finish(number)
            self.startNext(url, tally)
        }
        task.resume()
    }

    private func task(
        _ url: URL,
        _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        switch body {
        case .file(let path):
            return session.uploadTask(
                with: request,
                fromFile: URL(fileURLWithPath: path),
                completionHandler: handler
            )
        case .stream(let length):
            request.httpBodyStream = ZeroStream(length)
            return session.dataTask(with: request, completionHandler: handler)
        case .data(let length):
            request.httpBody = Data(repeating: 120, count: length)
            return session.dataTask(with: request, completionHandler: handler)
        }
    }
}
