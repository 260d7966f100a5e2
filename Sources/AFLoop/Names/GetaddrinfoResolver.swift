/// Resolves with `getaddrinfo` on helper threads, since it cannot be made
/// non-blocking: `/etc/hosts`, nsswitch and the system's address order all hold.
///
/// At most four threads; a thread ends when there is nothing left to look up. Concurrent lookups of one name are one
/// lookup. Answers are not cached here: without a time to live there is no honest moment to forget them.
package final class GetaddrinfoResolver: Resolver {
    package static let maximumThreads = 4
    package static let maximumWaitingNames = 4096

    private let loop: EventLoop
    private let queue: LookupQueue
    private var clients: [String: [any ResolverClient]] = [:]
    /// What each client waits for.
    private var names: [ObjectIdentifier: String] = [:]

    package init(loop: EventLoop) {
        self.loop = loop
        queue = LookupQueue()
    }

    package func resolve(_ name: String, for client: any ResolverClient) {
        names[ObjectIdentifier(client)] = name
        guard clients[name] == nil else {
            clients[name]?.append(client)
            return
        }
        clients[name] = [client]
        let resolver = LoopBound(confined: self, on: loop)
        let refusal = queue.submit(name) { answer in
            resolver.loop.enqueue(in: .all) { resolver.value.finish(name, answer: answer) }
        }
        guard let refusal else { return }
        // Also a refusal is answered in a later turn: callers never have to expect an answer inside their own call.
        loop.enqueue(in: .all) { resolver.value.finish(name, answer: .failure(refusal)) }
    }

    package func cancel(_ client: any ResolverClient) {
        guard let name = names.removeValue(forKey: ObjectIdentifier(client)) else { return }
        clients[name]?.removeAll { $0 === client }
        // A lookup that no thread has started yet need not be started at all. One that runs
        // stays known, so that a new client for the name joins it.
        if clients[name]?.isEmpty == true, queue.withdraw(name) { clients[name] = nil }
    }

    private func finish(_ name: String, answer: Result<[SocketAddress], ResolutionFailure>) {
        let answer = LoopbackNames.checked(answer, of: name)
        let answered = clients.removeValue(forKey: name) ?? []
        for client in answered { names[ObjectIdentifier(client)] = nil }
        for client in answered { client.resolved(answer) }
    }
}
