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

    func readLine(completion: @escaping (String?, Error?) -> Void) {
        if let end = rest.firstIndex(of: 10) {
            let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
            rest = Data(rest[(end + 1)...])
            completion(line.trimmingCharacters(in: .whitespacesAndNewlines), nil)
            return
        }
        task.readData(ofMinLength: 1, maxLength: 4096, timeout: 10) { data, atEOF, error in
            if let data = data { self.rest.append(data) }
            if let error = error {
                completion(nil, error)
            } else if atEOF, self.rest.firstIndex(of: 10) == nil {
                completion(nil, nil)
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
