import Glibc

/// The client's end of a tunnel. It never waits, and goes through TLS if the client speaks TLS to the proxy.
final class ClientSide {
    private let stream: SocketStream
    /// Bytes that are ready to be sent, as they go on the wire.
    private(set) var outgoing: ArraySlice<UInt8> = []

    init(_ stream: SocketStream) {
        self.stream = stream
    }

    /// Reads what has arrived, and whether the client has ended its side.
    func receiveNow() throws(ConnectionEnd) -> (bytes: [UInt8], isEnd: Bool) {
        var code: Int32 = 0
        var isEnd = false
        let wire = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, used in
            let count = recv(stream.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            code = count < 0 ? errno : 0
            isEnd = count == 0
            used = max(count, 0)
        }
        try stream.checkRunning()
        if [EAGAIN, EINTR].contains(code) { return ([], false) }
        if code != 0 { throw .clientReset }
        guard let tls = stream.tls else {
            stream.noteReceived(wire)
            return (wire, isEnd)
        }
        stream.noteReceivedOnWire(wire)
        var plain = try tls.open(wire)
        stream.noteReceived(plain.bytes)
        outgoing += tls.takeOutput()
        plain.isEnd = plain.isEnd || isEnd
        return plain
    }

    /// Takes the bytes that TLS has decrypted already.
    func receiveBuffered() throws(ConnectionEnd) -> (bytes: [UInt8], isEnd: Bool) {
        guard let tls = stream.tls else { return ([], false) }
        let plain = try tls.open([])
        stream.noteReceived(plain.bytes)
        return plain
    }

    func queue(_ bytes: ArraySlice<UInt8>) throws(ConnectionEnd) {
        if let tls = stream.tls {
            outgoing += try tls.seal(bytes)
        } else {
            outgoing += bytes
        }
        stream.noteSent(bytes.count)
    }

    /// Sends as much as the socket takes without waiting.
    func sendNow() throws(ConnectionEnd) {
        while !outgoing.isEmpty {
            let count = outgoing.withUnsafeBytes {
                Glibc.send(stream.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count < 0 {
                if [EAGAIN, EINTR].contains(errno) { return }
                try stream.checkRunning()
                throw .clientReset
            }
            outgoing = outgoing.dropFirst(count)
        }
    }
}
