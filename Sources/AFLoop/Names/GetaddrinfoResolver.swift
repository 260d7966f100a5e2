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

/// The names of this machine: `localhost` and all below it (RFC 6761 §6.3).
///
/// Whatever name servers say of them, or fail to say: a server on a loopback address trusts no other machine.
enum LoopbackNames {
    private static let addresses = [SocketAddress(ipv6: "::1", port: 0), SocketAddress(ipv4: "127.0.0.1", port: 0)]
        .compactMap { $0 }

    static func contains(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // One dot may end a name.
        guard let last = labels.last(where: { !$0.isEmpty }) else { return false }
        return last.map { $0 | 0x20 } == Array("localhost".utf8)
    }

    /// What an answer of the system comes to: its loopback addresses, or else the usual ones.
    static func checked(
        _ answer: Result<[SocketAddress], ResolutionFailure>,
        of name: String
    ) -> Result<[SocketAddress], ResolutionFailure> {
        guard contains(name) else { return answer }
        switch answer {
        case .failure(let failure) where failure.kind == .overloaded: return answer
        case .failure: return .success(addresses)
        case .success(let found):
            let own = found.filter(\.isLoopback)
            return .success(own.isEmpty ? addresses : own)
        }
    }
}
