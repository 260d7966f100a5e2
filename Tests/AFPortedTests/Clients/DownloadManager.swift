import AFURLSession
import Foundation

/// Downloads with progress, pausing and resuming, by a delegate.
final class DownloadManager: NSObject, URLSessionDownloadDelegate {
    struct Item {
        let url: URL
        var fraction = 0.0
        var resumeData: Data?
        var task: URLSessionDownloadTask?
    }

    private let folder: URL
    private let lock = NSLock()
    private var items: [Int: Item] = [:]
    var onProgress: ((URL, Double) -> Void)?
    var onFinish: ((URL, Result<URL, Error>) -> Void)?

    lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.isDiscretionary = false
        configuration.allowsCellularAccess = true
        configuration.networkServiceType = .background
        let queue = OperationQueue()
        queue.name = "downloads"
        queue.maxConcurrentOperationCount = 1
        return URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
    }()

    init(folder: URL) {
        self.folder = folder
        super.init()
    }

    func start(_ url: URL) {
        begin(session.downloadTask(with: url), from: url)
    }

    func pause(_ url: URL, completion: @escaping (Bool) -> Void) {
        lock.lock()
        let task = items.values.first { $0.url == url }?.task
        lock.unlock()
        guard let running = task else {
            completion(false)
            return
        }
        running.cancel(byProducingResumeData: { data in
            self.change(running) { $0.resumeData = data }
            completion(data != nil)
        })
    }

    func goOn(_ url: URL) -> Bool {
        lock.lock()
        let data = items.values.first { $0.url == url }?.resumeData
        items = items.filter { $0.value.url != url }
        lock.unlock()
        guard let resumeData = data else { return false }
        begin(session.downloadTask(withResumeData: resumeData), from: url)
        return true
    }

    private func begin(_ task: URLSessionDownloadTask, from url: URL) {
        lock.lock()
        items[task.taskIdentifier] = Item(url: url, task: task)
        lock.unlock()
        task.resume()
    }

    private func change(_ task: URLSessionTask, _ body: (inout Item) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        guard var item = items[task.taskIdentifier] else { return }
        body(&item)
        items[task.taskIdentifier] = item
    }

    private func url(of task: URLSessionTask) -> URL? {
        lock.lock()
        defer { lock.unlock() }
        return items[task.taskIdentifier]?.url
    }

    // MARK: - URLSessionDownloadDelegate

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        guard totalBytesExpectedToWrite != NSURLSessionTransferSizeUnknown, let url = url(of: downloadTask) else {
            return
        }
        let fraction = Double(totalBytesWritten) / Double(totalBytesExpectedToWrite)
        change(downloadTask) { $0.fraction = fraction }
        onProgress?(url, fraction)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        guard let url = url(of: downloadTask) else { return }
        onProgress?(url, Double(fileOffset) / Double(expectedTotalBytes))
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let url = url(of: downloadTask) else { return }
        let name = downloadTask.response?.suggestedFilename ?? url.lastPathComponent
        let target = folder.appendingPathComponent(name)
        do {
            if FileManager.default.fileExists(atPath: target.path) {
                try FileManager.default.removeItem(at: target)
            }
            try FileManager.default.moveItem(at: location, to: target)
            onFinish?(url, .success(target))
        } catch {
            onFinish?(url, .failure(error))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        guard let error = error as NSError?, let url = url(of: task) else { return }
        if let data = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data {
            change(task) { $0.resumeData = data }
        }
        if error.domain == NSURLErrorDomain, error.code == NSURLErrorCancelled { return }
        onFinish?(url, .failure(error))
    }
}
