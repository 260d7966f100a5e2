import Glibc

/// For those who read and write the socket themselves.
extension SocketStream {
    func noteReceived(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBytes { core.noteReceived($0, on: connection) }
    }

    func noteReceivedOnWire(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes.withUnsafeBytes { core.noteReceivedOnWire($0, on: connection) }
    }

    func noteSent(_ count: Int) {
        if count > 0 { core.noteSent(count, on: connection) }
    }

    func checkRunning() throws(Farewell) {
        try core.checkRunning()
    }

    /// Has `stop()` shut down another socket along with this one.
    func register(upstream descriptor: Int32) {
        core.lock.change { state in
            state.descriptors[-connection] = descriptor
            if state.phase != .running { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes it, under the lock: whoever shuts it down must not hit a number that was given again.
    func unregister(upstream descriptor: Int32) {
        core.lock.change { state in
            if state.descriptors[-connection] == descriptor { state.descriptors[-connection] = nil }
            close(descriptor)
        }
    }
}
