import AFLoop
import AFTransport
import AFWire
import Foundation

/// A file that is loaded: read as one that is sent is, piece by piece, as its receiver takes it.
///
/// It is opened once, and what is open is what is looked at: a symbolic link is followed, as it is for everybody who
/// opens a path, and whatever it leads to must be a regular file. Nobody but the program itself can name it: no server's
/// redirect leads to a file. A file that changes meanwhile fails the load rather than give a mixture.
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
    /// Which has this for a source.
    private weak var load: ForeignLoad?

    init(_ url: URL, isHead: Bool, for load: ForeignLoad, in world: World) {
        self.url = url
        self.isHead = isHead
        self.load = load
        path = Result { () throws(FilePath.Flaw) in
            try url.absoluteString.withUTF8Bytes { bytes throws(FilePath.Flaw) in try FilePath.path(bytes) }
        }
        switch path {
        case .failure(let flaw): stage = .failed(.path(flaw))
        case .success(let path): self.open(path, world)
        }
    }

    private func open(_ path: String, _ world: World) {
        let worker = world.workers.sharedWorker()
        let loop = world.loop
        let source = LoopBound(confined: self, on: loop)
        worker.run {
            let opened = Result { () throws(FileFailure) in
                let pass = try FilePass(opening: path)
                pass.begin()
                return pass
            }
            loop.enqueue { source.value.opened(opened, worker, loop) }
        }
    }

    private func opened(_ result: Result<FilePass, FileFailure>, _ worker: any BlockingWorker, _ loop: EventLoop) {
        switch (result, stage) {
        case (.success(let pass), .opening):
            let body = FileBody(pass, worker, on: loop)
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
