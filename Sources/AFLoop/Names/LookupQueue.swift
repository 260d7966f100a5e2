import AFBase
import CAFLinux
import Glibc

/// The names waiting for a helper thread, and the threads.
final class LookupQueue: Sendable {
    typealias Answer = Result<[SocketAddress], ResolutionFailure>

    private struct Lookup {
        let name: String
        let answer: @Sendable (Answer) -> Void
    }

    private struct State {
        /// All have one key: they are taken in the order in which they came.
        var waiting = Heap<Int, Lookup>()
        var places: [String: HeapPlace] = [:]
        var threads = 0
    }

    /// `getaddrinfo` loads plug-ins and parses files on the caller's stack.
    private static let stackSize = 512 << 10

    private let state = Lock(State())

    /// Returns why the lookup cannot be done, or nil if its answer will come.
    func submit(_ name: String, answer: @escaping @Sendable (Answer) -> Void) -> ResolutionFailure? {
        let (accepted, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.waiting.count < GetaddrinfoResolver.maximumWaitingNames else { return (false, false) }
            state.places[name] = state.waiting.add(Lookup(name: name, answer: answer), 0)
            guard state.threads < GetaddrinfoResolver.maximumThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        guard accepted else {
            let limit = GetaddrinfoResolver.maximumWaitingNames
            return ResolutionFailure(kind: .overloaded, message: "\(limit) names wait already")
        }
        return needsThread ? startThread(for: name) : nil
    }

    /// True if the lookup had not begun and now never will.
    func withdraw(_ name: String) -> Bool {
        state.withLock { state in
            guard let place = state.places.removeValue(forKey: name) else { return false }
            state.waiting.remove(place)
            return true
        }
    }

    private func startThread(for name: String) -> ResolutionFailure? {
        let reference = Unmanaged.passRetained(self).toOpaque()
        let result = caf_start_thread("AFNet resolver", LookupQueue.stackSize, runLookups, reference)
        guard result < 0 else { return nil }
        Unmanaged<LookupQueue>.fromOpaque(reference).release()
        let others = state.withLock { state -> Int in
            state.threads -= 1
            return state.threads
        }
        // Another thread will come to it.
        guard others == 0, withdraw(name) else { return nil }
        return ResolutionFailure(kind: .overloaded, message: SystemCallError(.thread, code: -result).description)
    }

    fileprivate func run() {
        while let lookup = next() { lookup.answer(LookupQueue.look(up: lookup.name)) }
    }

    private func next() -> Lookup? {
        state.withLock { state in
            guard let lookup = state.waiting.popFirst() else {
                state.threads -= 1
                return nil
            }
            state.places[lookup.name] = nil
            return lookup
        }
    }

    private static func look(up name: String) -> Answer {
        var list: UnsafeMutablePointer<addrinfo>?
        var code = caf_getaddrinfo(name, &list)
        // RFC 8305 leaves retries to the resolver; glibc gives up on a lost packet
        // with EAI_AGAIN, and one more try is what makes it usable.
        if code == EAI_AGAIN { code = caf_getaddrinfo(name, &list) }
        guard code == 0 else { return .failure(failure(code)) }
        defer { caf_freeaddrinfo(list) }
        let addresses = addresses(in: list)
        guard !addresses.isEmpty else {
            return .failure(ResolutionFailure(kind: .notFound, message: "no IPv4 or IPv6 address"))
        }
        return .success(addresses)
    }

    private static func addresses(in list: UnsafeMutablePointer<addrinfo>?) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry {
            if let found = current.pointee.ai_addr, let address = SocketAddress(found, port: 0),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            entry = current.pointee.ai_next
        }
        return addresses
    }

    private static func failure(_ code: Int32) -> ResolutionFailure {
        let message = SystemCallError.text { caf_describe_resolver_error(code, $0, $1) }
        let hasNoAddress = code == EAI_NONAME || code == -5  // EAI_NODATA, a GNU name
        return ResolutionFailure(kind: hasNoAddress ? .notFound : .unavailable, message: message)
    }
}

private func runLookups(_ reference: UnsafeMutableRawPointer?) {
    guard let reference else { return }
    Unmanaged<LookupQueue>.fromOpaque(reference).takeRetainedValue().run()
}
