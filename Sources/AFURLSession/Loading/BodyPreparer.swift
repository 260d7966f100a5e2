import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Prepares the body of one task before a connection is chosen: a body that cannot be read must not cost a connection.
/// It asks the delegate for streams.
final class BodyPreparer: StreamProvider {
    typealias Prepared = Result<(request: WireRequest, body: any BodySource), LoadError>

    let platform: Platform
    private let task: URLSessionTask
    private weak var load: Load?

    init(task: URLSessionTask, of load: Load, on platform: Platform) {
        self.task = task
        self.load = load
        self.platform = platform
    }

    /// Calls back once, in a later turn.
    func prepare(_ body: TaskBody, of request: WireRequest, done: @escaping (Prepared) -> Void) {
        switch body {
        case .file(let url): openFile(url, done: done)
        case .streamed:
            supplyStream { [self] in openStream($0 ?? load?.presentRequest?.bodyStream, for: request, done: done) }
        case .request, .data: openStream(load?.presentRequest?.bodyStream, for: request, done: done)
        }
    }

    // MARK: - Streams

    private func openStream(_ stream: HandedStream?, for request: WireRequest, done: @escaping (Prepared) -> Void) {
        guard let stream else { return done(.failure(.transfer(.body(.noStream)))) }
        StreamBody.open(stream, announced: request.body.length.map(Int64.init), provider: self) { opened in
            done(opened.map { (request, $0) }.mapError { .transfer(.body($0)) })
        }
    }

    var maySupplyStreams: Bool { load?.taskDelegate != nil }

    func supplyStream(_ done: @escaping (HandedStream?) -> Void) {
        let question = Question<HandedStream?> { [weak load] stream in
            load?.memory?.missingAnswer = nil
            done(stream)
        }
        guard let load, let (delegate, task) = load.taskDelegate else {
            // Without a delegate, too, the answer comes in a later turn.
            let bound = LoopBound(confined: question, on: platform.loop)
            return platform.loop.enqueue { bound.value.answer(nil) }
        }
        if let present = load.presentRequest { load.memory(beginningWith: present).missingAnswer = .stream }
        let bound = LoopBound(confined: question, on: platform.loop)
        load.session.outbox.post(
            .block {
                delegate.urlSession(
                    task.session,
                    task: task,
                    needNewBodyStream: { stream in
                        let handed = stream.map(HandedStream.init)
                        bound.loop.enqueue { bound.value.answer(handed) }
                    }
                )
            }
        )
    }

    // MARK: - Files

    private func openFile(_ url: URL, done: @escaping (Prepared) -> Void) {
        let worker = platform.workers.sharedWorker()
        let loop = platform.loop
        let preparer = LoopBound(confined: self, on: loop)
        let bound = LoopBound(confined: done, on: loop)
        worker.run {
            let opened = BodyPreparer.open(url)
            loop.enqueue { bound.value(preparer.value.freeze(opened, worker: worker)) }
        }
    }

    private static func open(_ url: URL) -> Result<FilePass, BodyFailure> {
        // The system reads a path only up to a NUL: it would open another file.
        guard url.isFileURL, !url.path.isEmpty, !url.path.utf8.contains(0) else {
            return .failure(.file(FileFailure(.notAFileURL, at: url.isFileURL ? url.path : url.textWithoutUserInfo)))
        }
        do throws(FileFailure) {
            let pass = try FilePass(opening: url.path)
            pass.begin()
            return .success(pass)
        } catch {
            return .failure(.file(error))
        }
    }

    private func freeze(_ opened: Result<FilePass, BodyFailure>, worker: any BlockingWorker) -> Prepared {
        opened.mapError { .transfer(.body($0)) }.flatMap { pass in
            let body = FileBody(pass: pass, worker: worker, on: platform.loop)
            let frozen = frozen(announcing: pass.size)
            if case .failure = frozen { body.close() }
            return frozen.map { ($0, body) }
        }
    }

    private func frozen(announcing length: Int64) -> Result<WireRequest, LoadError> {
        guard let load, let request = load.presentRequest else { return .failure(.cancelled) }
        do throws(RequestRejection) {
            return .success(
                try RequestFreezer.freeze(
                    request,
                    defaults: load.headers(for: request),
                    plan: .length(Int(length)),
                    expectsContinueAbove: task.session.settings.expectsContinueAbove
                )
            )
        } catch {
            return .failure(.rejected(error))
        }
    }
}
