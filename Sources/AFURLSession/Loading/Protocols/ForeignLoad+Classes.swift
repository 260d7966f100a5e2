import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// Loads by classes of the program.

extension ForeignLoad {
    /// Lets a class begin, with the stream it needs.
    func begin(_ choice: ProtocolClasses.Choice, on worker: any BlockingWorker, keepsBody: Bool) {
        guard keepsBody, case .streamed = load.body, let task = load.handle else { return start(choice, on: worker) }
        pause(.undecided)
        BodyPreparer(task: task, of: load, on: load.session.world.platform).supplyStream { [self] stream in
            guard load.isLoading, load.memory?.foreign === self else { return }
            var request = choice.request
            if let stream { request.httpBodyStream = stream.stream }
            unpause(.undecided)
            start(ProtocolClasses.Choice(type: choice.type, request: request), on: worker)
        }
    }

    private func start(_ choice: ProtocolClasses.Choice, on worker: any BlockingWorker) {
        guard let task = load.handle else { return }
        let (session, settings) = (load.session, load.session.settings)
        load.becomes(choice.request)
        let source = ProtocolSource(
            choice: choice,
            for: self,
            of: task,
            cache: choice.request.mayBeCached(settings.cachePolicy) ? load.cache.cache : nil,
            limit: max(settings.maximumBodyInMemory, ReadBuffer.size),
            on: worker
        )
        begin(source, under: session.scopes.scope(of: choice.type))
    }
}

extension URLRequest {
    /// Whether a stored response may answer the request.
    fileprivate func mayBeCached(_ standard: CachePolicy) -> Bool {
        switch contents.explicitCachePolicy ?? standard {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: false
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
            .reloadRevalidatingCacheData:
            true
        }
    }
}
