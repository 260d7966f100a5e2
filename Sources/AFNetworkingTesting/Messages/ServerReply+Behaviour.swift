extension ServerReply {
    /// Waits before the first byte.
    public func delayed(by duration: Duration) -> ServerReply {
        changed { $0.delivery.delay = duration }
    }

    /// Sends the head, then waits before the body.
    public func delayingBody(by duration: Duration) -> ServerReply {
        changed { $0.delivery.bodyDelay = duration }
    }

    /// Waits before the first byte until the test calls `TestServer.signal(_:)` with this name.
    public func held(until signal: String) -> ServerReply {
        changed { $0.delivery.heldUntil = signal }
    }

    /// Sends at most `byteCount` bytes per write, with a pause after each write.
    public func dribbling(_ byteCount: Int, every interval: Duration = .zero) -> ServerReply {
        changed { $0.delivery.dribble = Delivery.Dribble(byteCount: max(byteCount, 1), interval: interval) }
    }

    /// Sends the head, then each piece of the body in one write, with a pause before it.
    ///
    /// The body decides about its pieces: `ReplyBody.generated(count:_:)` makes them one by one.
    public func pacing(every interval: Duration) -> ServerReply {
        changed { $0.delivery.pace = interval }
    }

    /// Stops sending after `byteCount` bytes and keeps the connection open until the client
    /// closes it or the server stops.
    ///
    /// The server sends a shorter reply whole before it stops. The same is true of the other cuts.
    public func stalling(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, .stall)
    }

    /// Resets the connection after `byteCount` bytes.
    ///
    /// A reset may overtake bytes the client has not read yet; put a pause or a signal in a
    /// script when the client must see them first.
    public func resetting(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, .reset)
    }

    /// Closes the connection, with an end of stream, after `byteCount` bytes.
    public func closing(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, .close)
    }

    /// Closes the server's sending side after the reply, but goes on receiving and recording requests.
    public func halfClosing() -> ServerReply {
        changed { $0.delivery.halfCloses = true }
    }

    /// If a TLS connection ends with this reply, the server sends no close_notify: the client cannot tell whether
    /// the reply was cut off.
    public func endingUnannounced() -> ServerReply {
        changed { $0.delivery.endsUnannounced = true }
    }

    /// Sends an interim (1xx) response before the final one. Use it again for more of them.
    public func interim(_ status: Int, _ headers: HeaderFields = [:]) -> ServerReply {
        changed { $0.delivery.interims.append(Delivery.Interim(status: status, headers: headers)) }
    }

    /// Keeps the connection open after the reply, or closes it; the client's wish does not count.
    public func keepAlive(_ keepAlive: Bool) -> ServerReply {
        changed { $0.delivery.keepAlive = keepAlive }
    }

    /// Answers as soon as the head of the request has arrived, then closes the connection and discards the body.
    ///
    /// With `keepAlive(true)` the server reads and discards the rest of the body after the answer, and
    /// the connection stays open. This works for replies that are known when the head arrives:
    /// enqueued and fixed replies, and those of routes registered with `answering: .head`.
    public func withoutReadingBody() -> ServerReply {
        changed { $0.delivery.skipsBody = true }
    }

    private func cut(after byteCount: Int, of part: Part, _ action: Delivery.Action) -> ServerReply {
        changed { $0.delivery.cut = Delivery.Cut(count: max(byteCount, 0), part: part, action: action) }
    }
}
