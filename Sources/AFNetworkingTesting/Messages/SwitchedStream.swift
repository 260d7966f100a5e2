/// A connection after a reply with 101: its bytes are no longer HTTP.
protocol SwitchedStream: AnyObject {
    /// Waits for at least one byte and reads what has arrived. Zero means that the client closed its side.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int
    /// Writes all of `bytes`.
    func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd)
    /// Waits. Ends early when the connection breaks or the server stops.
    func pause(for duration: Duration) throws(ConnectionEnd)
    /// Waits until the test calls `TestServer.signal(_:)` with this name.
    func waitForSignal(_ name: String) throws(ConnectionEnd)
    /// Waits until the client closes its side or breaks the connection, and reads nothing.
    func waitForHangUp() throws(ConnectionEnd) -> Never
    /// Records a frame of the client.
    func note(_ frame: ServerFrame)
    /// Records why the server refuses what the client sent.
    func noteRefusal(_ reason: String)
}
