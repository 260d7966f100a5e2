/// One thing a scripted server does on a connection, in its turn.
package enum ServerStep: Sendable {
    /// Waits for exactly these bytes.
    case expect(String)
    /// Waits for a request, whatever it asks, with all of its body.
    case expectRequest
    /// Waits until this many bytes have come since the last step.
    case expectBytes(Int)
    case reply(String)
    /// `count` equal bytes, which are never stored.
    case fill(Int)
    /// A few bytes at a time.
    case dribble(String, Int, every: Duration)
    case delay(Duration)
    /// Does nothing more, for ever.
    case stall
    case close
    case halfClose
    case reset
    case stopReading
    case startReading
    /// Starts again from the first step, for the next request.
    case again
}
