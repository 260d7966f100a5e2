import AFLoop
import AFWire
import Foundation

/// Gets the body of one task ready before a connection is looked for: what cannot be
/// read must not cost a connection.
final class BodyDesk {
    typealias Ready = (Result<(request: FrozenRequest, body: any BodySource), TransferError>) -> Void

    private let task: URLSessionTask
    private let world: World

    init(_ task: URLSessionTask, in world: World) {
        self.task = task
        self.world = world
    }

    /// Opens the file and reads its beginning, away from the loop.
    func open(_ url: URL, _ ready: @escaping Ready) {
        let worker = world.workers.sharedWorker()
        let loop = world.loop
        let desk = LoopBound(confined: self, on: loop)
        let bound = LoopBound(confined: ready, on: loop)
        worker.run {
            let opened = BodyDesk.open(url)
            loop.enqueue { bound.value(desk.value.freeze(opened, worker)) }
        }
    }

    private static func open(_ url: URL) -> Result<FilePass, BodyFailure> {
        // A path is a string of C: beyond a NUL it would be another one.
        guard url.isFileURL, !url.path.isEmpty, !url.path.utf8.contains(0) else {
            return .failure(.file(path: url.isFileURL ? url.path : url.textWithoutUserInfo, .notAFileURL))
        }
        do throws(ReadableFile.Refusal) {
            let pass = FilePass(try ReadableFile(path: url.path), url.path)
            pass.begin()
            return .success(pass)
        } catch {
            return .failure(.file(path: url.path, .refused(error)))
        }
    }

    private func freeze(
        _ opened: Result<FilePass, BodyFailure>,
        _ worker: any BlockingWorker
    ) -> Result<(request: FrozenRequest, body: any BodySource), TransferError> {
        guard let request = task.originalRequest else { return .failure(.cancelled) }
        return opened.mapError(TransferError.body).flatMap { pass in
            let body = FileBody(pass, worker, on: world.loop)
            do throws(RequestRejection) {
                let frozen = try RequestFreezer.freeze(
                    request,
                    defaults: task.session.headers,
                    bodyLength: Int(body.length)
                )
                return .success((frozen, body))
            } catch {
                return .failure(.rejected(error))
            }
        }
    }
}
