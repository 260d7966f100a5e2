import AFTransport
import Foundation

/// A file that was downloaded, and goes away with this unless it was moved.
final class ConnectionFile: Sendable {
    let url: URL
    private let worker: any BlockingWorker

    init(_ url: URL, in world: World) {
        self.url = url
        worker = world.workers.sharedWorker()
    }

    deinit {
        worker.run { [url] in try? FileManager.default.removeItem(at: url) }
    }
}
