import Glibc

/// The client's end of a tunnel: bytes without waiting, through TLS if that is what the client speaks.
final class ClientSide {
    private let stream: SocketStream
    /// What is ready to be sent, as it goes on the wire.
    private(set) var outgoing: ArraySlice<UInt8> = []

    init(_ stream: SocketStream) {
        self.stream = stream
    }

    /// What can be read now, and whether the client ended its side with it.
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

    /// What TLS has decrypted and nobody took yet.
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

    /// Sends what can be sent without waiting.
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
