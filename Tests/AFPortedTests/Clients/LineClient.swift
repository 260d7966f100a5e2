import AFURLSession
import Foundation

/// Speaks a protocol of lines over a stream task, and turns TLS on when the server says that it may.
final class LineClient: NSObject, URLSessionStreamDelegate {
    private var session: URLSession!
    private var task: URLSessionStreamTask!
    private let lock = NSLock()
    private var notes: [String] = []
    private var rest = Data()

    init(host: String, port: Int, configuration: URLSessionConfiguration = .default) {
        super.init()
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        task = session.streamTask(withHostName: host, port: port)
        task.resume()
    }

    var events: [String] {
        lock.lock()
        defer { lock.unlock() }
        return notes
    }

    private func note(_ text: String) {
        lock.lock()
        notes.append(text)
        lock.unlock()
    }

    func send(_ line: String, completion: @escaping (Error?) -> Void) {
        task.write(Data((line + "\r\n").utf8), timeout: 10) { error in
            completion(error)
        }
    }

    /// Takes the next line out of what has come.
    private func takeLine() -> String? {
        lock.lock()
        defer { lock.unlock() }
        guard let end = rest.firstIndex(of: 10) else { return nil }
        let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        rest = Data(rest[(end + 1)...])
        return line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func keep(_ data: Data) {
        lock.lock()
        rest.append(data)
        lock.unlock()
    }

    func readLine(completion: @escaping (String?, Error?) -> Void) {
        if let line = takeLine() { return completion(line, nil) }
        task.readData(ofMinLength: 1, maxLength: 4096, timeout: 10) { data, atEOF, error in
            if let data = data { self.keep(data) }
            if let error = error {
                completion(nil, error)
            } else if atEOF {
                completion(self.takeLine(), nil)
            } else {
                self.readLine(completion: completion)
            }
        }
    }

    func secure() {
        task.startSecureConnection()
    }

    func hangUp() {
        task.closeWrite()
        task.closeRead()
    }

    func cancel() {
        session.invalidateAndCancel()
    }

    // MARK: - URLSessionStreamDelegate

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note("read closed")
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        note("write closed")
    }

    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        note("better route")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        note(error == nil ? "completed" : "failed")
    }
}
