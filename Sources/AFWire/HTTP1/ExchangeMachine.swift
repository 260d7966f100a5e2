/// Decides, for one request and its response, what happens next and whether the
/// connection may serve another pair. Bytes and sockets live elsewhere.
///
/// The two halves go on side by side, because a server may answer before it has read the whole request, and read on
/// while it answers (RFC 9110 §7.5). An answer that is an error, or that has ended, stops the request:
///
/// ```
/// sending    under way ──▶ done             receiving   head ──▶ body ──▶ done
///                │                                        └─ failed: done
///                └───────▶ stopped
/// ```
///
/// The exchange is over with the first `.finish` or `.fail`; what happens to the
/// connection afterwards is not its business any more.
package struct ExchangeMachine: Sendable {
    package enum Sending: Sendable, Equatable {
        case underWay
        case done
        /// Given up before the request was complete. The peer still waits for the
        /// rest, so this connection can never carry another request.
        case stopped
    }

    package enum Receiving: Sendable, Equatable {
        case head
        case body
        case done
    }

    package enum Event: Sendable, Equatable {
        /// The last byte of the request is sent.
        case requestFinished
        /// The peer takes no more of the request; it may have answered all the same.
        case sendingFailed
        /// A 1xx response.
        case interimResponse
        /// The head of the final response; `endsSending` if the server has decided without the rest of the request.
        case responseHead(endsSending: Bool)
        /// The decoder reported the end; `framedExactly` is what it says, `surplus` whether bytes followed.
        case responseFinished(framedExactly: Bool, surplus: Bool)
        /// The decoder refused what came.
        case responseMalformed
        /// The peer closed, or the connection broke, before the decoder saw the end.
        /// `receivedBytes` tells whether any byte of a response had come before.
        case peerClosed(receivedBytes: Bool)
        /// The caller has lost interest, or has no more of the body that the head announces.
        case cancelled
    }

    package enum Action: Sendable, Equatable {
        case wait
        /// Pass the head on; if `stopSending`, drop what is left of the request first.
        case deliverHead(stopSending: Bool)
        /// Drop what is left of the request and go on reading.
        case stopSending
        /// The response is complete. Unless `reuse`, close the connection.
        case finish(reuse: Bool)
        /// The exchange has come to nothing; close the connection. `retryable` if the peer cannot have answered:
        /// whether sending it twice is safe depends on the request and is decided elsewhere.
        case fail(retryable: Bool)
    }

    package private(set) var sending = Sending.underWay
    package private(set) var receiving = Receiving.head
    private var mayReuse: Bool
    private var sawResponse = false

    /// - Parameter keepsAlive: Whether our own request leaves the connection open;
    ///   false if it says `Connection: close`.
    package init(keepsAlive: Bool = true) {
        mayReuse = keepsAlive
    }

    /// Something of the request is still to be sent.
    package var isSending: Bool { sending == .underWay }

    /// The exchange has finished or failed.
    package var isOver: Bool { receiving == .done }

    package mutating func handle(_ event: Event) -> Action {
        switch event {
        case .requestFinished, .sendingFailed:
            handleSending(event)
        case .interimResponse, .responseHead, .responseFinished, .responseMalformed, .peerClosed, .cancelled:
            handleReceiving(event)
        }
    }

    // MARK: - Our half

    private mutating func handleSending(_ event: Event) -> Action {
        switch (sending, event) {
        case (.underWay, .requestFinished):
            sending = .done
            return .wait

        case (.stopped, .requestFinished):
            // The driver was told to stop while this piece was on its way.
            return .wait

        case (.underWay, .sendingFailed):
            // A server that closes its reading side has often said why before: 413, 401. So its answer is still
            // waited for. The exchange cannot be over: whatever ends it has stopped sending before.
            sending = .stopped
            return .stopSending

        case (.done, .sendingFailed), (.stopped, .sendingFailed):
            // All was handed over, or given up; the reading side tells the rest.
            mayReuse = false
            return .wait

        case (.done, .requestFinished):  // reported twice
            preconditionFailure("illegal \(event) while sending \(sending)")

        case (_, .interimResponse), (_, .responseHead), (_, .responseFinished), (_, .responseMalformed),
            (_, .peerClosed), (_, .cancelled):
            preconditionFailure("\(event) belongs to the other half")
        }
    }

    // MARK: - The peer's half

    private mutating func handleReceiving(_ event: Event) -> Action {
        switch (receiving, event) {
        case (.head, .interimResponse):
            sawResponse = true
            return .wait

        case (.head, .responseHead(let endsSending)):
            receiving = .body
            return deliverHead(endsSending)

        case (.body, .responseFinished(let framedExactly, let surplus)):
            receiving = .done
            if sending == .underWay { sending = .stopped }
            return .finish(reuse: mayReuse && sending == .done && framedExactly && !surplus)

        case (.head, .peerClosed(let receivedBytes)):
            // The peer may have acted on the request once it has begun to answer.
            return fail(retryable: !receivedBytes && !sawResponse)

        case (.body, .peerClosed),
            (.head, .responseMalformed), (.body, .responseMalformed),
            (.head, .cancelled), (.body, .cancelled):
            // A cancelled response is still on its way and must meet no other request.
            return fail(retryable: false)

        case (.done, .peerClosed), (.done, .cancelled), (.done, .responseMalformed):
            // Too late to matter: the outcome is decided and was reported. What a peer
            // sends after the end is refused by the decoder, should it be fed at all.
            return .wait

        case (.head, .responseFinished),  // no head yet
            (.body, .interimResponse),  // the decoder reports these before the head only
            (.body, .responseHead),  // one response per exchange
            (.done, .interimResponse),  // the exchange is over, nothing is decoded
            (.done, .responseHead),
            (.done, .responseFinished):
            preconditionFailure("illegal \(event) while receiving \(receiving)")

        case (_, .requestFinished), (_, .sendingFailed):
            preconditionFailure("\(event) belongs to the other half")
        }
    }

    /// To send what the server does not want would be wasted. The connection cannot be used again: whatever is still
    /// owed would be read as the next request.
    private mutating func deliverHead(_ endsSending: Bool) -> Action {
        guard endsSending, sending == .underWay else { return .deliverHead(stopSending: false) }
        sending = .stopped
        return .deliverHead(stopSending: true)
    }

    private mutating func fail(retryable: Bool) -> Action {
        receiving = .done
        if sending != .done { sending = .stopped }
        return .fail(retryable: retryable)
    }
}
