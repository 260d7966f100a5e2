import AFWire

extension LoadFailure {
    init(_ failure: StreamFailure, peer: Endpoint?) {
        let place = peer?.text ?? "the peer"
        switch failure {
        case .closed(let direction):
            let doing = direction == .reading ? "Reading from" : "Writing to"
            self.init(
                .lost,
                .closed,
                phase: direction == .reading ? .receivingBody : .sending,
                message: "\(doing) \(place) failed: the stream is closed in this direction."
            )
        case .pinned:
            self.init(
                .request,
                .scheme,
                phase: .preparing,
                message: "Nothing was sent to \(place): the session's evaluator has pins for it, and in the clear no "
                    + "certificate is looked at.",
                advice: "Call startSecureConnection() before anything is read or written."
            )
        case .halfClosed:
            self.init(
                .tls,
                phase: .tls,
                message: "Securing the stream to \(place) failed: it is closed in one direction, or was before all was "
                    + "read, or is the body of a response.",
                advice: "Secure it before it is closed."
            )
        case .unreadable:
            self.init(
                .tls,
                .notTLS,
                phase: .tls,
                message:
                    "Securing the stream to \(place) failed: bytes that came in the clear have not been read. They "
                    + "may come from another sender than the peer.",
                advice: "Read all the peer says before startSecureConnection()."
            )
        case .nobodyForStreams:
            self.init(
                .request,
                phase: .delivering,
                message: "No streams were made of the connection to \(place): it is the body of a response, or the "
                    + "delegate has no method for them.",
                advice: "Use a delegate that is a URLSessionStreamDelegate."
            )
        }
    }
}
