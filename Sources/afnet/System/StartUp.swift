import Dispatch
import Glibc

/// What the program takes of the system before it begins.
enum StartUp {
    /// How many threads run at a time, besides the first: two that Dispatch serves queues with, the network's, and one that looks
    /// names up.
    private static let threads = 4

    /// Has Dispatch open its descriptors: for its events, and for a timer of each clock that afnet waits by. If it needs them
    /// later, when sockets have taken all that the process may have, it ends the process.
    static func openDispatch() async {
        await withCheckedContinuation { done in
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(1)) { done.resume() }
        }
        try? await Task.sleep(for: .microseconds(1))
    }

    /// Returns the error number if the process may not have the threads that it needs. Dispatch would wait for ever until it
    /// may.
    static func missingThreads() -> Int32? {
        var made: [pthread_t] = []
        var gate = pthread_mutex_t()
        pthread_mutex_init(&gate, nil)
        pthread_mutex_lock(&gate)
        var failure: Int32?
        withUnsafeMutablePointer(to: &gate) { gate in
            while made.count < threads, failure == nil {
                var thread = pthread_t()
                // All of them are there at the same time: each waits until the last one is made.
                let result = pthread_create(&thread, nil, { waitAtGate($0) }, gate)
                if result == 0 { made.append(thread) } else { failure = result }
            }
            pthread_mutex_unlock(gate)
            for thread in made { pthread_join(thread, nil) }
        }
        pthread_mutex_destroy(&gate)
        return failure
    }
}

private func waitAtGate(_ gate: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
    pthread_mutex_lock(gate)
    pthread_mutex_unlock(gate)
    return nil
}
