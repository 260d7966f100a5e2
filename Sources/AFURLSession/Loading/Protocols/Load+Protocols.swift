import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

// Loads by sources of the session: protocol classes, `data:` URLs, files.

extension Load {
    /// Makes the load by a source that takes the place of a transfer.
    func beginForeign(_ request: URLRequest) -> ForeignLoad {
        leaveTime()
        let foreign = ForeignLoad(request, of: self)
        memory(beginningWith: request).foreign = foreign
        if isSuspended { foreign.pause(.suspended) }
        return foreign
    }

    /// The request as a class gets it: with what the session adds to its requests, without secrets that must not go
    /// along.
    func requestForClasses(_ request: URLRequest, keepsBody: Bool) -> URLRequest {
        var request = request
        let policy = redirectPolicy(of: request)
        for (name, value) in session.settings.additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            let staysBehind = HTTPText.isSameName(name, other: "Host") || policy.withholds(name)
            if memory?.hasLeftOrigin == true, staysBehind { continue }
            if request.withheldHeaderFields.contains(ASCII.lowered(name)) { continue }
            request.setValue(value, forHTTPHeaderField: name)
        }
        // An upload task's own body takes precedence over that of its request.
        guard keepsBody, request.httpBody == nil || request.httpBody == handle?.originalRequest?.httpBody else {
            return request
        }
        switch body {
        case .request, .streamed: break
        case .data(let data): request.httpBody = data
        case .file(let url): request.httpBodyStream = url.isFileURL ? InputStream(url: url) : nil
        }
        return request
    }

    /// Lets a class begin, with the stream it needs.
    func begin(
        _ choice: ProtocolClasses.Choice,
        by foreign: ForeignLoad,
        on worker: any BlockingWorker,
        keepsBody: Bool
    ) {
        guard keepsBody, case .streamed = body, let handle else { return start(choice, by: foreign, on: worker) }
        foreign.pause(.undecided)
        BodyPreparer(handle, of: self, on: session.world.platform).supplyStream { [self] stream in
            guard isLoading, memory?.foreign === foreign else { return }
            var request = choice.request
            if let stream { request.httpBodyStream = stream.stream }
            foreign.unpause(.undecided)
            start(ProtocolClasses.Choice(type: choice.type, request: request), by: foreign, on: worker)
        }
    }

    private func start(_ choice: ProtocolClasses.Choice, by foreign: ForeignLoad, on worker: any BlockingWorker) {
        guard let handle, let memory else { return }
        memory.request = choice.request
        becomes(choice.request)
        let source = ProtocolSource(
            choice,
            for: foreign,
            of: handle,
            cache: choice.request.mayBeCached(session.settings.cachePolicy) ? cache.cache : nil,
            limit: max(session.settings.maximumBodyInMemory, ReadBuffer.size),
            on: worker
        )
        foreign.begin(source, under: session.scopes.scope(of: choice.type))
    }

    // MARK: - From the source

    func ask(
        _ challenge: URLAuthenticationChallenge,
        answered: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let handle else { return }
        let method = challenge.protectionSpace.authenticationMethod
        let isOfServer = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            .contains(method)
        let levels: [ChallengeDelivery.Level] =
            isOfServer ? [.session, .task] : CredentialChallenges.levels(for: method)
        ChallengeDelivery(handle, taskDelegate: taskDelegate?.delegate, in: session).ask(levels) { sender in
            URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        } answer: { given in
            answered(given?.disposition ?? .performDefaultHandling, given?.credential)
        }
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
