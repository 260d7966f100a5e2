import AFNetworking
import Dispatch
import Foundation

/// Downloads a file, and goes on where it was interrupted: by a lost connection, by a cancelled task, or by the end of
/// an earlier run of the program.
///
/// ```swift
/// try await ResumableDownload(of: url, to: file).run { progress in print(progress.fractionReceived ?? 0) }
/// ```
struct ResumableDownload: Sendable {
    struct FileExists: Error, CustomStringConvertible {
        let description: String
    }

    let source: URL
    let file: URL
    /// How often it goes on by itself.
    var maximumAttempts = 10
    /// Before it goes on; doubled each time.
    var pause = Duration.milliseconds(500)
    private let configuration: URLSessionConfiguration

    init(of source: URL, to file: URL, configuration: URLSessionConfiguration = .ephemeral) {
        (self.source, self.file, self.configuration) = (source, file, configuration)
    }

    /// What the next run needs to go on. What has arrived is kept by the session, for a week.
    var resumeFile: URL { file.appendingPathExtension("resume") }

    /// Downloads the file. Cancelling the Swift task leaves `resumeFile`, if there is anything to go on with.
    ///
    /// - Parameter show: Hears how far it is.
    func run(_ show: (TransferProgress) -> Void) async throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw FileExists(description: "\(file.path) is there already")
        }
        let manager = URLSessionManager(sessionConfiguration: configuration)
        // Any type of content; a status that is no success is an error.
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "downloader")
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }

        var resumeData = try? Data(contentsOf: resumeFile)
        for attempt in 1... {
            guard let error = await load(by: manager, after: resumeData, show) else { break }
            resumeData = (error as NSError).userInfo[NSURLSessionDownloadTaskResumeData] as? Data
            keep(resumeData)
            guard resumeData != nil, mayHeal(error), attempt < maximumAttempts else { throw error }
            try await Task.sleep(for: pause * (1 << min(attempt - 1, 6)))
        }
        keep(nil)
    }

    /// - Returns: What went wrong, if anything did.
    private func load(
        by manager: URLSessionManager,
        after resumeData: Data?,
        _ show: (TransferProgress) -> Void
    ) async -> (any Error)? {
        let (endings, ending) = AsyncStream.makeStream(of: (any Error)?.self)
        let destination: URLSessionManager.DownloadDestination = { [file] temporary, response in
            // The user does not want the text of an error page as the file. Left where it is, it is removed.
            (response as? HTTPURLResponse).map { 200..<300 ~= $0.statusCode } == true ? file : temporary
        }
        let done: URLSessionManager.DownloadCompletionHandler = { _, _, error in ending.yield(error) }
        let task =
            if let resumeData {
                manager.downloadTask(
                    withResumeData: resumeData,
                    progress: nil,
                    destination: destination,
                    completionHandler: done
                )
            } else {
                manager.downloadTask(
                    with: URLRequest(url: source),
                    progress: nil,
                    destination: destination,
                    completionHandler: done
                )
            }
        // In a task of its own, which is not cancelled: the surrounding one may be, and must still hear how the
        // download ended.
        let result = Task { await endings.first { _ in true } ?? nil }
        return await withTaskCancellationHandler {
            let steps = manager.progressSteps(of: task)
            task.resume()
            for await step in steps { show(step) }
            return await result.value
        } onCancel: {
            // The error will have the resume data.
            task.cancel { _ in }
        }
    }

    private func mayHeal(_ error: any Error) -> Bool {
        let codes: Set<URLError.Code> = [
            .networkConnectionLost, .timedOut, .cannotConnectToHost, .notConnectedToInternet, .dnsLookupFailed,
        ]
        return (error as? URLError).map { codes.contains($0.code) } ?? false
    }

    private func keep(_ resumeData: Data?) {
        let files = FileManager.default
        try? files.removeItem(at: resumeFile)
        // It has the request in it, perhaps with a password: no other user may read it.
        let owner: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if let resumeData { _ = files.createFile(atPath: resumeFile.path, contents: resumeData, attributes: owner) }
    }
}
