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
        open(body, of: request) { [weak load] prepared in
            done(prepared.map { request, body in load?.coded(body, of: request) ?? (request, body) })
        }
    }

    private func open(_ body: TaskBody, of request: WireRequest, done: @escaping (Prepared) -> Void) {
        switch body {
        case .file(let url): openFile(url, done: done)
        case .streamed:
            supplyStream { [self] in openStream($0 ?? load?.presentRequest?.bodyStream, for: request, done: done) }
        case .request, .data:
            if let data = request.body.data { return openData(data, of: request, done: done) }
            openStream(load?.presentRequest?.bodyStream, for: request, done: done)
        }
    }

    // MARK: - Memory

    /// The longest body that is coded as a whole, so that the server is told its length.
    private static let longestWhole = 1 << 20

    /// A body that is in memory has to be prepared if it may be coded.
    private func openData(_ data: Data, of request: WireRequest, done: @escaping (Prepared) -> Void) {
        let loop = platform.loop
        let bound = LoopBound(confined: done, on: loop)
        guard data.count <= BodyPreparer.longestWhole, let coding = load?.coding(for: request) else {
            return loop.enqueue { bound.value(.success((request, DataBody(data)))) }
        }
        platform.workers.sharedWorker().run {
            let coded = Result { () throws(ContentFailure) in
                try ContentEncoder(coding).encode(data, before: .end)
            }
            loop.enqueue { bound.value(Self.prepared(data, of: request, as: coding, coded)) }
        }
    }

    private static func prepared(
        _ data: Data,
        of request: WireRequest,
        as coding: ContentCoding,
        _ result: Result<[UInt8], ContentFailure>
    ) -> Prepared {
        guard case .success(let bytes) = result else { return .failure(.transfer(.body(.coding(coding)))) }
        guard bytes.count < data.count else { return .success((request.uncoded, DataBody(data))) }
        let coded = Data(bytes)
        return .success((request.coded(as: coding, .whole(coded)), DataBody(coded, contentLength: data.count)))
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

extension Load {
    /// The coding for the body of a request about to leave; nil if its server has refused codings.
    func coding(for request: WireRequest) -> ContentCoding? {
        request.body.coding.flatMap { session.codingRefusals.contains(request.endpoint) ? nil : $0 }
    }

    /// A body as it is to be sent, which may have been sent to another server before: coded on the way, or as it is.
    func coded(_ body: any BodySource, of request: WireRequest) -> (request: WireRequest, body: any BodySource) {
        guard request.body.coded == nil else { return (request, body) }
        let former = body as? EncodedBody
        let coding = request.head.version == .http11 ? coding(for: request) : nil
        if let coding, former?.coding == coding { return (request.coded(as: coding, .onTheWay), body) }
        let content = former?.surrenderContent() ?? body
        guard let coding else { return (request, content) }
        let (workers, loop) = (session.world.platform.workers, session.loop)
        let coded = EncodedBody(content, coding: coding, worker: workers.sharedWorker(), on: loop)
        return (request.coded(as: coding, .onTheWay), coded)
    }
}
