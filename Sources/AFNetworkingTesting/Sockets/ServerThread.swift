import CAFTestServer
import Glibc

/// One joinable, named thread of the server.
struct ServerThread: Sendable, Hashable {
    // A thread parses HTTP, runs a test's handlers, and makes TLS handshakes: nothing recursive,
    // and 64 KiB are enough for it. The default of 8 MiB would reserve 32 GiB of address
    // space for 4096 connections.
    private static let stackBytes = 256 * 1024

    private let handle: pthread_t

    /// Starts `body` on a new thread. Throws if the system has no thread left.
    init(named name: String, body: @escaping @Sendable () -> Void) throws(SocketFailure) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var thread = pthread_t()
        let result = caf_test_thread_start(&thread, Self.stackBytes, runServerThread, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw SocketFailure(call: "pthread_create", code: result)
        }
        handle = thread
    }

    /// The calling thread.
    static var current: ServerThread { ServerThread(handle: pthread_self()) }

    private init(handle: pthread_t) {
        self.handle = handle
    }

    func join() {
        pthread_join(handle, nil)
    }

    /// Lets the system free the thread when it ends: for the thread that stops the server and cannot join itself.
    func detach() {
        pthread_detach(handle)
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runServerThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    caf_test_thread_name(start.name)
    start.body()
    return nil
}
