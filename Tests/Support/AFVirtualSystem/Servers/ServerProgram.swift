/// What a server does on one connection.
package protocol ServerProgram: AnyObject {
    func connected(_ client: ServerEnd)
    func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd)
    func inputEnded(_ client: ServerEnd, reset: Bool)
    /// The client sends nothing more, and goes on reading.
    func outputEnded(_ client: ServerEnd)
}

extension ServerProgram {
    package func connected(_ client: ServerEnd) {}
    package func inputEnded(_ client: ServerEnd, reset: Bool) { client.close() }
    package func outputEnded(_ client: ServerEnd) { client.close() }
}

/// What seals the words of a server.
package protocol ServerLayer: AnyObject {
    func sealed(_ bytes: [UInt8]) -> [UInt8]
    /// What is sent before the end; nothing from a server without manners.
    func closeNotify() -> [UInt8]
}

/// The server's end of a connection.
package struct ServerEnd {
    package let connection: VirtualConnection

    init(_ connection: VirtualConnection) {
        self.connection = connection
    }

    package func send(_ text: String) { send(Array(text.utf8)) }
    package func send(_ bytes: [UInt8]) { connection.serverSends(connection.layer?.sealed(bytes) ?? bytes) }
    /// Past the layer that seals, if there is one.
    package func sendRaw(_ bytes: [UInt8]) { connection.serverSends(bytes) }
    /// `count` times the same byte, which takes no memory.
    package func send(_ byte: UInt8, count: Int) {
        guard connection.layer == nil else { return send(Array(repeating: byte, count: count)) }
        connection.serverSends(byte, count: count)
    }
    /// Closes when everything is sent. What the client sends from now on is answered
    /// with a reset.
    package func close() {
        if let closeNotify = connection.layer?.closeNotify() { connection.serverSends(closeNotify) }
        connection.serverEnds(reading: false)
    }
    /// Sends nothing more, but goes on reading.
    package func halfClose() {
        if let closeNotify = connection.layer?.closeNotify() { connection.serverSends(closeNotify) }
        connection.serverEnds(reading: true)
    }
    package func reset() { connection.serverResets() }
    package func stopReading() { connection.serverStopsReading() }
    package func startReading() { connection.serverStartsReading() }
    /// Does something later, if the server has not closed by then.
    package func after(_ delay: Duration, _ body: @escaping (ServerEnd) -> Void) { connection.after(delay, body) }
    package func draw(_ range: ClosedRange<Int>) -> Int { connection.serverDraws(range) }
    package func report(_ violation: String) { connection.network.report("#\(connection.number) \(violation)") }
}
