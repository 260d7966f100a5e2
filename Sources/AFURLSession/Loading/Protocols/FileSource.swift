import AFLoop
import AFTransport
import AFWire
import Foundation

/// Loads a file, piece by piece, as fast as the receiver takes it; the reader is the one of files that are uploaded.
///
/// It opens the file once, and looks at what it has opened: it follows symbolic links, and the result must be a regular
/// file. Only the program itself can name a file: no redirect of a server leads to one. A file that changes meanwhile
/// fails the load, because the response would be a mixture.
final class FileSource: LoadSource, BodyClient {
    private enum Stage {
        case opening
        case opened(FileBody, size: Int64)
        case reading(FileBody)
        case failed(LocalFailure)
        case over
    }

    private let url: URL
    private let isHead: Bool
    private let path: Result<String, FilePath.Flaw>
    private var stage = Stage.opening
    /// The load that this is the source of.
    private weak var load: ForeignLoad?

    init(url: URL, isHead: Bool, for load: ForeignLoad, in world: World) {
        self.url = url
        self.isHead = isHead
        self.load = load
        path = Result { () throws(FilePath.Flaw) in
            try url.absoluteString.withUTF8Bytes { bytes throws(FilePath.Flaw) in try FilePath.path(bytes) }
        }
        switch path {
        case .failure(let flaw): stage = .failed(.path(flaw))
        case .success(let path): self.open(path, world: world)
        }
    }

    private func open(_ path: String, world: World) {
        let worker = world.workers.sharedWorker()
        let loop = world.loop
        let source = LoopBound(confined: self, on: loop)
        worker.run {
            let opened = Result { () throws(FileFailure) in
                let pass = try FilePass(opening: path)
                pass.begin()
                return pass
            }
            loop.enqueue { source.value.opened(opened, worker: worker, loop: loop) }
        }
    }

    private func opened(_ result: Result<FilePass, FileFailure>, worker: any BlockingWorker, loop: EventLoop) {
        switch (result, stage) {
        case (.success(let pass), .opening):
            let body = FileBody(pass: pass, worker: worker, on: loop)
            body.client = self
            stage = .opened(body, size: pass.size)
        case (.success(let pass), _): worker.run { pass.close() }
        case (.failure(let failure), .opening): stage = .failed(.file(failure))
        case (.failure, _): break
        }
        load?.goOnSoon()
    }

    func bodyReady() {
        load?.goOnSoon()
    }

    func take() -> [LoadEvent] {
        switch stage {
        case .opening, .over: return []
        case .failed(let failure): return [.failed(.local(failure))]
        case .opened(let body, let size):
            stage = .reading(body)
            return [.response(response(size), .notAllowed)] + (isHead ? [.finished] : [])
        case .reading(let body): return self.read(body)
        }
    }

    private func read(_ body: FileBody) -> [LoadEvent] {
        switch body.next() {
        case .ready:
            var piece = Data()
            _ = body.withReady { bytes in
                piece = Data(bytes)
                return .bytes(bytes.count)
            }
            body.consume(piece.count)
            return [.data(piece)]
        case .waiting: return []
        case .end: return [.finished]
        case .failed(.file(let failure)): return [.failed(.local(.file(failure)))]
        case .failed: return [.failed(.local(.unreadable))]
        }
    }

    private func response(_ size: Int64) -> URLResponse {
        URLResponse(
            url: url,
            mimeType: (try? path.get()).map(FileMediaTypes.type(ofFileAt:)),
            expectedContentLength: isHead ? 0 : Int(size),
            textEncodingName: nil
        )
    }

    func stop() {
        switch stage {
        case .opened(let body, _), .reading(let body): body.close()
        case .opening, .failed, .over: break
        }
        stage = .over
    }
}
