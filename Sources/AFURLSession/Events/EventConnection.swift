import AFBase
import AFTransport
import AFWire
import Foundation

/// One response of an event stream, being read.
struct EventConnection {
    /// Why a response has no further event.
    enum Ending {
        case complete
        /// The task's error, or one about the response, which the server may send again.
        case failed(any Error, HTTPURLResponse? = nil)

        init(_ error: any Error) {
            let refusal = error as? Refusal
            self = .failed(refusal?.error ?? error, refusal?.response)
        }

        /// Whether another attempt may bring events.
        func mayHeal(_ options: EventStreamOptions) -> Bool {
            switch self {
            case .complete: true
            case .failed(_, let response?): options.reconnectingStatusCodes.contains(response.statusCode)
            case .failed(let error as URLError, nil):
                RetryRules().errorCodes.contains(error.code) || Self.brokeOffCoded(error)
            case .failed: false
            }
        }

        /// A coded body that breaks off ends in the middle of its coding, even if the framing is complete.
        private static func brokeOffCoded(_ error: URLError) -> Bool {
            error.loadFailure.map { $0.reason == .decoding && $0.detail == .truncated } ?? false
        }

        /// What the server asks for with `Retry-After`.
        func retryAfter(_ now: Int64) -> Duration? {
            guard case .failed(_, let response) = self else { return nil }
            return RetryAfter.delay(of: response, now: now)
        }
    }

    /// A response that is no event stream.
    private struct Refusal: Error {
        let error: any Error
        let response: HTTPURLResponse
    }

    private(set) var parser: EventStreamParser
    private let reader: ByteReader
    private var piece: StreamPiece?
    private var used = 0

    /// Loads the request up to the head of its response. Nil if the server has no events any more (204).
    static func open(_ stream: EventStream, lastID: String) async throws -> EventConnection? {
        let (bytes, response) = try await stream.session.bytes(
            for: stream.request(after: lastID),
            delegate: stream.delegate
        )
        if let response = response as? HTTPURLResponse {
            if response.statusCode == 204 { return nil }
            if let failure = failure(of: response) {
                throw Refusal(error: ErrorMapping.error(failure, url: response.url), response: response)
            }
        }
        let options = stream.options
        let parser = EventStreamParser(
            lastID: lastID,
            lineLimit: max(options.maximumLineLength, 0),
            eventLimit: max(options.maximumEventSize, 0)
        )
        return EventConnection(parser: parser, reader: ByteReader(bytes.source))
    }

    private init(parser: EventStreamParser, reader: ByteReader) {
        self.parser = parser
        self.reader = reader
    }

    private static func failure(of response: HTTPURLResponse) -> LoadFailure? {
        guard response.statusCode == 200 else {
            return LoadFailure(
                .response,
                .status,
                phase: .waitingForHead,
                message: "The server answered \(response.statusCode) to a request for events.",
                advice: "Look at the status; reconnectingStatusCodes names those after which the stream connects again."
            )
        }
        let type = response.value(forHTTPHeaderField: "Content-Type") ?? ""
        guard MediaType(type)?.essence == "text/event-stream" else {
            let shown = type.isEmpty ? "no content type" : "the content type \(type.prefix(100).debugDescription)"
            return LoadFailure(
                .response,
                phase: .waitingForHead,
                message: "The response has \(shown); an event stream has text/event-stream.",
                advice: "Read it with bytes(for:), or ask the server for events."
            )
        }
        return nil
    }

    /// Nil at the end of the response.
    mutating func next(_ actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        while true {
            if let event = try eventOfPiece() { return event }
            piece = try await reader.source.next()
            used = 0
            if piece == nil { return nil }
        }
    }

    private mutating func eventOfPiece() throws -> ServerSentEvent? {
        guard let piece else { return nil }
        var rest = UnsafeRawBufferPointer(rebasing: piece.bytes[used...])
        do throws(EventStreamParser.TooLong) {
            let event = try parser.next(&rest)
            used = piece.bytes.count - rest.count
            return event.map { ServerSentEvent(name: $0.name, data: $0.data, id: $0.id) }
        } catch {
            throw ErrorMapping.error(.tooLong(error), url: reader.source.task.originalRequest?.url)
        }
    }
}

extension EventStream {
    fileprivate func request(after lastID: String) -> URLRequest {
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        }
        // The standard asks for the cache mode "no-store": a stream from the cache would be over at once, and the next
        // request for the page would be answered with one that was stored.
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // Requests behind it would wait for a response that does not end.
        request.httpShouldUsePipelining = false
        if request.value(forHTTPHeaderField: "Cache-Control")?.contains("no-store") != true {
            request.addValue("no-store", forHTTPHeaderField: "Cache-Control")
        }
        // The server chooses it, and could choose one that no request may have.
        if !lastID.isEmpty, !lastID.utf8.contains(where: ByteScanning.isForbiddenControl) {
            request.setValue(lastID, forHTTPHeaderField: "Last-Event-ID")
        }
        return request
    }
}

extension LoadFailure {
    fileprivate static func tooLong(_ what: EventStreamParser.TooLong) -> LoadFailure {
        let (part, option) =
            what == .line ? ("A line", "maximumLineLength") : ("The data of an event", "maximumEventSize")
        return LoadFailure(
            .limit,
            phase: .receivingBody,
            message: "\(part) of the stream is longer than the limit.",
            advice: "Raise \(option) of the stream's options if you expect such events."
        )
    }
}
