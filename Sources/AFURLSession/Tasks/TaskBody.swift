import AFWire
import Foundation

/// The number of bytes is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

/// The source of a task's body, as the creator of the task chose it. Indirect, because most tasks have no such choice
/// and every queued task holds one.
indirect enum TaskBody: Sendable {
    /// The body of the request.
    case request
    /// These bytes, whatever body the request has.
    case data(Data)
    case file(URL)
    /// A stream that the delegate is asked for.
    case streamed

    /// Returns the request in bytes. The length of a file is unknown here: the request is frozen again when the file is
    /// open, and here only to find errors in its other parts.
    ///
    /// - Parameter defaults: The fields of the session.
    func freeze(
        _ request: URLRequest,
        with defaults: HeaderDefaults,
        settings: SessionSettings
    ) throws(RequestRejection) -> WireRequest {
        var request = request
        var plan = RequestFreezer.BodyPlan.own
        switch self {
        case .request where request.bodyStream != nil: plan = .stream
        case .request:
            // One frozen request serves all tasks, unless a setting of the session applies to it.
            let isAsked = settings.expectsContinueAbove != nil && request.httpBody != nil
            if !isAsked { return try request.frozen(with: defaults) }
        case .data(let data): request.httpBody = data
        case .file:
            request.httpBody = nil
            // Whether there is a body for them to follow shows when the file is open.
            request.trailers = nil
        case .streamed: plan = .stream
        }
        return try RequestFreezer.freeze(
            request,
            defaults: defaults,
            plan: plan,
            expectsContinueAbove: settings.expectsContinueAbove
        )
    }

    /// Whether a class of the program has given the request a body of its own. A stream may be a copy of the task's.
    func isReplaced(in request: URLRequest) -> Bool {
        switch self {
        case .request: false
        case .data(let data): request.bodyStream != nil || request.httpBody.map { $0 != data } ?? false
        case .file, .streamed: request.httpBody != nil
        }
    }

    /// Whether there is nothing to do before a connection is chosen.
    func isPrepared(for request: WireRequest) -> Bool {
        switch self {
        case .request, .data: request.body.isReady
        case .file, .streamed: false
        }
    }

    /// The length of the body, as far as it is known when the task is made.
    func expectedLength(_ own: OwnRequest) -> Int64 {
        if case .file = self { return NSURLSessionTransferSizeUnknown }
        guard let request = own.frozen else { return 0 }
        if case .none = request.body.framing { return 0 }
        return request.body.length.map(Int64.init) ?? NSURLSessionTransferSizeUnknown
    }
}
