import AFTransport
import Foundation

/// A downloaded file. It is removed with this object, unless the delegate has moved it.
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
