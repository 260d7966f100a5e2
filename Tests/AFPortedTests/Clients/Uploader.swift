import AFURLSession
import Foundation

/// Forms, files and streams.
final class Uploader: NSObject, URLSessionTaskDelegate, URLSessionDataDelegate {
    private var received: [Int: Data] = [:]
    private var streams: [Int: () -> InputStream?] = [:]
    private var completions: [Int: (Data, HTTPURLResponse?, Error?) -> Void] = [:]
    private(set) var progress: [(sent: Int64, total: Int64)] = []
    private let lock = NSRecursiveLock()
    private(set) lazy var session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)

    static func multipart(_ fields: [String: String], file: Data, named name: String, boundary: String) -> Data {
        var body = Data()
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            body.append(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(key)\"\r\n\r\n\(value)\r\n".data(
                    using: .utf8
                )!
            )
        }
        body.append("--\(boundary)\r\n".data(using: .utf8)!)
        body.append("Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n".data(using: .utf8)!)
        body.append("Content-Type: application/octet-stream\r\n\r\n".data(using: .utf8)!)
        body.append(file)
        body.append("\r\n--\(boundary)--\r\n".data(using: .utf8)!)
        return body
    }

    func uploadForm(_ fields: [String: String], file: Data, to url: URL, completion: @escaping (Int?, Error?) -> Void) {
        let boundary = "Boundary-\(UUID().uuidString)"
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
        let body = Self.multipart(fields, file: file, named: "photo.bin", boundary: boundary)
        let task = session.uploadTask(with: request, from: body) { _, response, error in
            completion((response as? HTTPURLResponse)?.statusCode, error)
        }
        task.resume()
    }

    func uploadFile(_ file: URL, to url: URL, completion: @escaping (Data, HTTPURLResponse?, Error?) -> Void) {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        run(session.uploadTask(with: request, fromFile: file), nil, completion)
    }

    func uploadStream(
        of data: Data,
        to url: URL,
        completion: @escaping (Data, HTTPURLResponse?, Error?) -> Void
    ) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue(String(data.count), forHTTPHeaderField: "Content-Length")
        run(session.uploadTask(withStreamedRequest: request), { InputStream(data: data) }, completion)
    }

    private func run(
        _ task: URLSessionUploadTask,
        _ stream: (() -> InputStream?)?,
        _ completion: @escaping (Data, HTTPURLResponse?, Error?) -> Void
    ) {
        lock.lock()
        completions[task.taskIdentifier] = completion
        streams[task.taskIdentifier] = stream
        lock.unlock()
        task.resume()
    }

    // MARK: - Delegate

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        lock.lock()
        progress.append((totalBytesSent, totalBytesExpectedToSend))
        lock.unlock()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        lock.lock()
        let make = streams[task.taskIdentifier]
        lock.unlock()
        completionHandler(make?())
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.lock()
        received[dataTask.taskIdentifier, default: Data()].append(data)
        lock.unlock()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        lock.lock()
        let completion = completions.removeValue(forKey: task.taskIdentifier)
        let data = received.removeValue(forKey: task.taskIdentifier) ?? Data()
        lock.unlock()
        completion?(data, task.response as? HTTPURLResponse, error)
    }
}
