import AFTransport
import AFURLTypes
import AFWire
import Foundation

/// One response of an event stream, being read.
struct EventConnection {
    /// Why a response has no further event.
    enum Ending {
        case complete
        case failed(any Error)

        /// Whether another attempt may bring events.
        func mayHeal(_ options: EventStreamOptions) -> Bool {
            guard case .failed(let error) = self else { return true }
            guard let error = error as? URLError else { return false }
            if let refused = error.refusedResponse {
                return options.reconnectingStatusCodes.contains(refused.response.statusCode)
            }
            return RetryRules().errorCodes.contains(error.code) || Self.brokeOffCoded(error)
        }

        /// A coded body that breaks off ends in the middle of its coding, even if the framing is complete.
        private static func brokeOffCoded(_ error: URLError) -> Bool {
            error.loadFailure.map { $0.reason == .decoding && $0.detail == .truncated } ?? false
        }

        var error: (any Error)? {
            if case .failed(let error) = self { error } else { nil }
        }

        /// What the server asks for with `Retry-After`.
        func retryAfter(_ now: Int64) -> Duration? {
            (error as? URLError)?.refusedResponse.flatMap { RetryAfter.delay(of: $0.response, now: now) }
        }
    }

    let response: URLResponse
    private var reader: EventReader

    /// What the next connection has to know, also if this one breaks.
    var parser: EventStreamParser { reader.parser }

    /// Loads the request up to the head of its response.
    static func open(_ stream: EventStream, lastID: String) async throws -> EventConnection {
        let (bytes, response) = try await stream.session.bytes(
            for: stream.request(after: lastID),
            expecting: .events,
            isApart: !stream.options.countsAmongConnections,
            delegate: stream.delegate
        )
        let options = stream.options
        let reader = EventReader(
            source: bytes.source,
            after: lastID,
            lineLimit: options.maximumLineLength,
            eventLimit: options.maximumEventSize,
            keepsComments: stream.listener != nil
        )
        return EventConnection(response: response, reader: reader)
    }

    /// Whether the server has no events any more.
    var isOver: Bool { (response as? HTTPURLResponse)?.statusCode == 204 }

    /// Whether the events come from a server. Another source has all of its events at once, and would give them again.
    var isRemote: Bool { response is HTTPURLResponse }

    /// Nil at the end of the response.
    mutating func next(_ actor: isolated (any Actor)?) async throws -> EventReader.Element? {
        try await reader.next(actor)
    }
}

extension EventStream {
    fileprivate func request(after lastID: String) -> URLRequest {
        var request = request
        // Fetch's cache mode "no-store", which the standard asks for: a stream from the cache would be over at once.
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // Requests behind it would wait for a response that does not end.
        request.httpShouldUsePipelining = false
        for (name, value) in [
            ("Accept", "text/event-stream"), ("Cache-Control", "no-cache"), ("Pragma", "no-cache"),
        ] where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        // The server chooses it, and could choose one that no request may have.
        if !lastID.isEmpty, !lastID.utf8.contains(where: ByteScanning.isForbiddenControl) {
            request.setValue(lastID, forHTTPHeaderField: "Last-Event-ID")
        }
        return request
    }
}
