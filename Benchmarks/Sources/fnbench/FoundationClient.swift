import Foundation
import FoundationNetworking
import Harness

/// The URLSession of FoundationNetworking with completion handlers, each of which starts the next request.
final class FoundationClient: Client {
    private let arguments: Arguments
    private let session: URLSession

    init(_ arguments: Arguments) {
        self.arguments = arguments
        session = URLSession(configuration: .plain(arguments))
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        var request = URLRequest(url: url)
        if arguments.closes { request.setValue("close", forHTTPHeaderField: "Connection") }
        if arguments.body != nil { request.httpMethod = "POST" }
        for _ in 0..<inFlight { startNext(request, tally) }
    }

    private func startNext(_ request: URLRequest, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        task(request) { byteCount, response, error in
            self.arguments.check(response, error)
            tally.count(byteCount)
            tally.finish(number)
            self.startNext(request, tally)
        }
        .resume()
    }

    private func task(
        _ request: URLRequest,
        _ done: @escaping @Sendable (Int, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        switch arguments.body {
        case .file(let path): return upload(request, path, done)
        case .stream(let byteCount): return upload(request, byteCount, done)
        case .data(let byteCount):
            var request = request
            request.httpBody = Data(repeating: 120, count: byteCount)
            return session.dataTask(with: request) { _, response, error in done(byteCount, response, error) }
        case nil: break
        }
        if let out = arguments.out { return download(request, out, done) }
        return session.dataTask(with: request) { data, response, error in done(data?.count ?? 0, response, error) }
    }

    private func download(
        _ request: URLRequest,
        _ out: String,
        _ done: @escaping @Sendable (Int, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        session.downloadTask(with: request) { file, response, error in
            if let file, rename(file.path, out) != 0 { self.move(file, to: out) }
            done(Int(response?.expectedContentLength ?? 0), response, error)
        }
    }

    private func move(_ file: URL, to out: String) {
        do {
            try? FileManager.default.removeItem(atPath: out)
            try FileManager.default.moveItem(atPath: file.path, toPath: out)
        } catch {
            arguments.fail("cannot move the download to \(out): \(error)")
        }
    }

    private func upload(
        _ request: URLRequest,
        _ path: String,
        _ done: @escaping @Sendable (Int, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        return session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path)) { _, response, error in
            done(size, response, error)
        }
    }

    /// A stream without a length, which is sent in chunks.
    private func upload(
        _ request: URLRequest,
        _ byteCount: Int,
        _ done: @escaping @Sendable (Int, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionTask {
        var request = request
        request.httpBodyStream = ZeroStream(byteCount)
        return session.dataTask(with: request) { _, response, error in done(byteCount, response, error) }
    }
}

extension Arguments {
    /// Ends the program unless the request was answered with 200.
    func check(_ response: URLResponse?, _ error: (any Error)?) {
        guard error == nil, (response as? HTTPURLResponse)?.statusCode == 200 else {
            fail("a request failed: \(error.map { "\($0)" } ?? "\(String(describing: response))")")
        }
    }
}
