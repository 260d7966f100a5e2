import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Puts the request of a load on the wire, when the steps have prepared it.
struct RequestSender {
    private let load: Load
    private var session: SessionCore { load.session }

    init(_ load: Load) {
        self.load = load
    }

    func send(_ draft: consuming RequestDraft) {
        guard let request = draft.wire.frozen else { return }
        let key: ConnectionKey
        do throws(LoadError) {
            key = try connectionKey(for: request)
        } catch {
            return fail(error, body: draft.body)
        }
        load.leaveTime()
        let transfer = Transfer(
            request: request,
            key: key,
            pool: session.pool,
            loop: session.loop,
            deadlines: session.deadlines,
            idleInterval: request.terms.idleInterval ?? session.requestTimeout,
            time: load.time,
            asksForPipelining: request.terms.asksForPipelining ?? session.settings.usesPipelining,
            client: load
        )
        let route = key.route
        // Keep the body if it may have to go again: a proxy may ask for credentials, the task may have to wait for a
        // network, or an interceptor may ask for another attempt.
        transfer.keepsBody =
            route != nil || session.settings.waitsForConnectivity || load.memory?.interception != nil
        if let trace = load.trace {
            transfer.observer = trace
            trace.began(request)
        }
        load.transfer = transfer
        rememberForRetry(request, by: route)
        start(transfer, with: request, draft: draft)
        // The task may have been suspended while it had no transfer.
        if load.isSuspended { load.transfer?.pause(.suspended) }
    }

    private func connectionKey(for request: WireRequest) throws(LoadError) -> ConnectionKey {
        let key = try session.connectionKey(for: request, judgedBy: load.trustJudge(for: request.endpoint))
        guard let route = key.route else { return key }
        return session.steps.addingFields.reduce(key) { key, step in
            step.address(key, by: route, for: request, of: load)
        }
    }

    private func fail(_ error: LoadError, body: (any BodySource)?) {
        body?.close()
        load.fail(error)
    }

    /// Keeps the request before it was addressed to a proxy: a proxy may be told more than the server (RFC 9112
    /// §3.2.2), and again when the request is sent again.
    private func rememberForRetry(_ request: WireRequest, by route: ProxyRoute?) {
        guard route != nil, session.settings.waitsForConnectivity, let present = load.presentRequest else {
            load.memory?.unaddressed = nil
            return
        }
        load.memory(beginningWith: present).unaddressed = request
    }

    private func start(_ transfer: Transfer, with request: WireRequest, draft: consuming RequestDraft) {
        if let body = draft.body { return sendAgain(body, of: request, with: transfer) }
        guard !load.isPrepared(for: request) else {
            let request = draft.hasFields ? request : load.addingStepFields(to: request)
            return transfer.start(request, priority: load.priority, body: request.body.data.map { DataBody($0) })
        }
        guard let task = load.handle else { return }
        transfer.prepare()
        BodyPreparer(task: task, of: load, on: session.world.platform).prepare(load.presentBody, of: request) {
            bodyReady($0, for: transfer)
        }
    }

    private func sendAgain(_ body: any BodySource, of request: WireRequest, with transfer: Transfer) {
        let (request, body) = load.coded(body, of: request)
        transfer.prepare()
        body.rewind { failure in
            guard transfer === load.transfer else { return body.close() }
            guard let failure else {
                return transfer.start(load.addingStepFields(to: request), priority: load.priority, body: body)
            }
            body.close()
            load.fail(.transfer(.body(failure)))
        }
    }

    private func bodyReady(
        _ result: Result<(request: WireRequest, body: any BodySource), LoadError>,
        for transfer: Transfer
    ) {
        guard transfer === load.transfer else {
            if case .success((_, let body)) = result { body.close() }
            return
        }
        switch result {
        case .failure(let error): load.fail(error)
        case .success((let request, let body)):
            let expected = request.body.length.map(Int64.init) ?? NSURLSessionTransferSizeUnknown
            load.snapshot.withLock { $0.expectedToSend = expected }
            rememberForRetry(request, by: transfer.key.route)
            transfer.start(load.addingStepFields(to: request), priority: load.priority, body: body)
        }
    }
}

extension Load {
    /// The task's request with the `Host` that its session sends.
    func naming(_ request: URLRequest) -> URLRequest {
        handle == nil ? request : request.naming(hostOf: headers(for: request))
    }
}
