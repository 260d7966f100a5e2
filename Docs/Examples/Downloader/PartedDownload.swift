import AFNetworking
import Foundation

/// A file that several requests load: for servers that limit each connection.
struct PartedDownload {
    let url: URL
    let file: URL
    let parts: Int
    private let progress = Progress(totalUnitCount: 0)

    init(of url: URL, to file: URL, inParts parts: Int) {
        (self.url, self.file, self.parts) = (url, file, parts)
    }

    /// Goes on with what an earlier run has left beside the file.
    ///
    /// - Parameter show: Takes a line ten times in a second.
    func run(_ show: @escaping @Sendable (String) -> Void) async throws {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = parts
        let drawing = Task { [progress] in
            var line = ProgressLine()
            while !Task.isCancelled {
                show(line.text(progress.completedUnitCount, of: progress.totalUnitCount, now: .now))
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { drawing.cancel() }
        let session = URLSession(configuration: configuration)
        try await session.download(from: url, to: file, inParts: DownloadParts(parts), progress: progress)
    }
}
