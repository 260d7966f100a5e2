import AFTransport
import AFWire
import Foundation

/// Where the body of a task comes from, as its owner said it. Indirect, because most
/// tasks have nothing to say and every queued one holds it.
indirect enum TaskBody: Sendable {
    /// From the request.
    case request
    /// Memory, whatever the request has.
    case data(Data)
    case file(URL)
    /// A stream that the delegate is asked for.
    case streamed

    /// The request in bytes. For a file, whose length nobody knows yet, it is frozen
    /// again when it is open; here only to find out what is wrong with the rest.
    ///
    /// - Parameter defaults: The session's own if nil.
    func freeze(
        _ request: URLRequest,
        in session: URLSession,
        with defaults: HeaderDefaults? = nil
    ) throws(RequestRejection) -> WireRequest {
        let defaults = defaults ?? session.headers
        var request = request
        var plan = RequestFreezer.BodyPlan.own
        switch self {
        case .request where request.bodyStream != nil: plan = .stream
        case .request:
            // Frozen once for all tasks, unless the session has a say in it.
            let isAsked = session.settings.expectsContinueAbove != nil && request.httpBody != nil
            if !isAsked { return try request.frozen(with: defaults) }
        case .data(let data): request.httpBody = data
        case .file: request.httpBody = nil
        case .streamed: plan = .stream
        }
        return try RequestFreezer.freeze(
            request,
            defaults: defaults,
            plan: plan,
            expectsContinueAbove: session.settings.expectsContinueAbove
        )
    }

    /// Whether there is nothing to do before a connection is looked for.
    func isPrepared(for request: WireRequest) -> Bool {
        switch self {
        case .request, .data: !request.isStreamed
        case .file, .streamed: false
        }
    }

    /// What is known about its length when the task is made.
    func expectedLength(_ frozen: Result<WireRequest, RequestRejection>) -> Int64 {
        if case .file = self { return NSURLSessionTransferSizeUnknown }
        guard let request = try? frozen.get() else { return 0 }
        return request.isChunked ? NSURLSessionTransferSizeUnknown : Int64(request.bodyLength ?? 0)
    }
}
