import AFLoop
import AFTransport
import AFWire
import Foundation

// Loads by URL protocol classes.

extension TaskCore {
    /// Whether the session has classes to ask about a request.
    var hasClassesToAsk: Bool { session.protocols?.classes.isEmpty == false }

    /// Asks the session's classes about a request.
    ///
    /// - Parameters:
    ///   - request: The request to load next.
    ///   - keepsBody: Whether it keeps the body of the task.
    ///   - taken: Called when a class takes the request, before the class begins.
    ///   - declined: Called if no class takes it.
    func offer(
        _ request: URLRequest,
        keepsBody: Bool,
        taken: @escaping () -> Void = {},
        declined: @escaping () -> Void
    ) {
        guard isLoading, let task, let door = session.protocols, let present = presentRequest else { return }
        let course = course(beginningWith: present)
        let load = ForeignLoad(request, of: self, hardDeadline: transfer?.deadlineOfNext ?? hardDeadline)
        course.load = load
        stopClock()
        if isSuspended { load.pause(.suspended) }
        let request = dressedForClasses(request, keepsBody: keepsBody)
        // Classes are asked about a task, so the request must be the task's current one.
        becomes(request)
        door.choose(for: task, request) { [self] choice in
            guard isLoading, self.course?.load === load, load.isAsking else { return }
            guard let choice else {
                load.cancel()
                course.load = nil
                course.hardDeadline = load.deadlineOfNext
                becomes(course.request)
                return declined()
            }
            taken()
            course.hasDroppedBody = course.hasDroppedBody || !keepsBody
            begin(choice, by: load, keepsBody: keepsBody)
        }
    }

    /// The request as a class gets it: with what the session adds to its requests, without secrets that must not go
    /// along.
    private func dressedForClasses(_ request: URLRequest, keepsBody: Bool) -> URLRequest {
        var request = request
        let policy = redirectPolicy(of: request)
        for (name, value) in session.settings.additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            if course?.hasLeftOrigin == true, RedirectRules.isSecret(name, to: policy) { continue }
            if request.withheldHeaderFields.contains(HTTPText.lowered(name)) { continue }
            request.setValue(value, forHTTPHeaderField: name)
        }
        // An upload task's own body takes precedence over that of its request.
        guard keepsBody, request.httpBody == nil || request.httpBody == task?.originalRequest?.httpBody else {
            return request
        }
        switch body {
        case .request, .streamed: break
        case .data(let data): request.httpBody = data
        case .file(let url): request.httpBodyStream = url.isFileURL ? InputStream(url: url) : nil
        }
        return request
    }

    private func begin(_ choice: ProtocolDoor.Choice, by load: ForeignLoad, keepsBody: Bool) {
        guard keepsBody, case .streamed = body, let task else { return start(choice, by: load) }
        load.pause(.undecided)
        BodyDesk(task, of: self, on: session.world.platform).supplyStream { [self] stream in
            guard isLoading, course?.load === load else { return }
            var request = choice.request
            if let stream { request.httpBodyStream = stream.stream }
            load.unpause(.undecided)
            start(ProtocolDoor.Choice(type: choice.type, request: request), by: load)
        }
    }

    private func start(_ choice: ProtocolDoor.Choice, by load: ForeignLoad) {
        guard let task, let course, let door = session.protocols else { return }
        course.request = choice.request
        becomes(choice.request)
        let source = ProtocolSource(
            choice,
            for: load,
            of: task,
            cache: choice.request.mayBeCached(session.settings.cachePolicy) ? session.cache.cache : nil,
            limit: max(session.settings.maximumBodyInMemory, ReadBuffer.size),
            on: door.worker
        )
        load.begin(source)
    }

    // MARK: - Challenges

    func ask(
        _ challenge: URLAuthenticationChallenge,
        _ answered: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let task else { return }
        let method = challenge.protectionSpace.authenticationMethod
        let isOfServer = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            .contains(method)
        let levels: [ChallengePost.Level] = isOfServer ? [.session, .task] : CredentialDesk.levels(for: method)
        ChallengePost(task, taskDelegate?.delegate, in: session).ask(levels) { sender in
            URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        } _: { given in
            answered(given?.disposition ?? .performDefaultHandling, given?.credential)
        }
    }

    /// The class could not load the request.
    func loadFailed(_ error: LoadError) {
        if !asksInterceptors(about: error) { fail(error) }
    }

    // MARK: - Redirects

    /// The class redirects the task to another request.
    func redirected(_ load: ForeignLoad, to request: URLRequest, _ response: URLResponse) {
        guard let course, let present = presentRequest else { return }
        let policy = redirectPolicy(of: present)
        let step: ProtocolRedirect
        do throws(RedirectFailure) {
            step = try ProtocolRedirect(from: present, to: request, count: course.redirects, policy)
        } catch {
            self.present(response)
            return fail(.redirect(error))
        }
        let answered = { [self] (request: URLRequest?) in
            guard isLoading, self.course?.load === load, load.isRedirected else { return }
            guard let request else { return end(load, with: response) }
            follow(request.isUnanswered ? step.request : request, step, response)
        }
        guard let http = response as? HTTPURLResponse, asksDelegate(about: http, step.request, answered) else {
            return answered(step.request)
        }
    }

    /// Takes the redirect itself as the task's response.
    private func end(_ load: ForeignLoad, with response: URLResponse) {
        load.cancel()
        deliver(asItIs: response, expecting: 0)
        if isLoading { finishReceiving() }
    }

    private func follow(_ request: URLRequest, _ step: ProtocolRedirect, _ response: URLResponse) {
        guard let course else { return }
        var request = request
        var leavesOrigin = step.leavesOrigin
        if request.url != step.request.url {
            // The delegate names another URL than the class: the same rules hold for it.
            let policy = redirectPolicy(of: course.request)
            do throws(RedirectFailure) {
                leavesOrigin = try ProtocolRedirect(from: course.request, to: request, count: course.redirects, policy)
                    .leavesOrigin
            } catch {
                present(response)
                return fail(.redirect(error))
            }
            if leavesOrigin { request = RedirectRules.withoutSecrets(request, known: step.request, policy) }
        }
        let keepsBody =
            request.contents.method == course.request.contents.method && step.keepsBody(response)
            && !course.hasDroppedBody
        course.redirects += 1
        course.hasLeftOrigin = course.hasLeftOrigin || leavesOrigin
        if !keepsBody, ["GET", "HEAD"].contains(request.contents.method) { request.httpBody = nil }
        leaveLoad(response)
        course.request = request
        becomes(request)
        offer(request, keepsBody: keepsBody) { [self, request] in
            loadFromNetwork(request, keepsBody: keepsBody, after: response)
        }
    }

    /// Loads the target of a class's redirect that no class takes. Never a file.
    private func loadFromNetwork(_ request: URLRequest, keepsBody: Bool, after response: URLResponse) {
        guard let task, let course else { return }
        var request = request
        switch body {
        case .request: break
        case .data(let data):
            if keepsBody, request.httpBody == nil, request.bodyStream == nil { request.httpBody = data }
        // Open the file, or ask for the stream, anew: the class may have read the one it got.
        case .file, .streamed: if request.bodyStream != nil { request.httpBodyStream = nil }
        }
        let isStreamed = if case .streamed = body { keepsBody } else { request.bodyStream != nil }
        course.hasDroppedBody = !keepsBody && !isStreamed
        course.request = request
        do throws(RequestRejection) {
            let frozen = try RequestFreezer.freeze(
                request,
                defaults: headers(of: task, for: request),
                plan: isStreamed ? .stream : .own,
                expectsContinueAbove: session.settings.expectsContinueAbove
            )
            begin(try secured(frozen) ?? frozen)
        } catch {
            present(response)
            fail(.rejected(error))
        }
    }

    /// Ends a load that was not the last of its task.
    ///
    /// - Parameter response: Its response, which is not the task's.
    func leaveLoad(_ response: URLResponse?) {
        guard let course, let load = course.load else { return }
        course.load = nil
        course.add(load.record(of: course.request, response ?? self.response))
        course.hardDeadline = load.deadlineOfNext
        load.cancel()
        self.response = nil
        snapshot.withLock { snapshot in
            snapshot.received = 0
            snapshot.response = nil
        }
    }
}

extension URLRequest {
    /// Whether a stored response may answer the request.
    fileprivate func mayBeCached(_ standard: CachePolicy) -> Bool {
        switch explicitCachePolicy ?? standard {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: false
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
            .reloadRevalidatingCacheData:
            true
        }
    }
}
