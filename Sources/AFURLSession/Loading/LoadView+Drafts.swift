import AFTransport
import AFWire
import Foundation

extension LoadView {
    /// The present request once more, in place of a transfer that sent nothing: the wait may have changed cookies, and
    /// who wants TLS.
    func presentAgain(inPlaceOf former: Transfer) -> NextRequest? {
        guard let present = presentRequest else { return nil }
        var next = NextRequest(present, inPlaceOf: memory?.unaddressed ?? former.request)
        next.isFirst = true
        return next
    }

    /// - Parameters:
    ///   - body: The body that went with the former request, unless the request itself holds it.
    ///   - response: The response to the former request, which the task shows if this one cannot be sent.
    func draft(
        of next: NextRequest,
        body: (any BodySource)?,
        after response: URLResponse?
    ) throws(RequestRejection) -> RequestDraft {
        let history = DraftHistory()
        history.cause = response
        let request: URLRequest
        let wire: OwnRequest
        if let former = next.former {
            request = next.request
            wire = OwnRequest { () throws(RequestRejection) in
                try freeze(request, former: next.keepsBody ? former : nil)
            }
            if let present = presentRequest { history.former = (present, former) }
        } else {
            request = forNetwork(next)
            wire = OwnRequest { () throws(RequestRejection) in
                try freezeForNetwork(request, keepsBody: next.keepsBody)
            }
            history.forNetwork = (request, hasDroppedBody: !next.keepsBody)
        }
        if case .refused(let rejection) = wire, next.entry == .security || !session.steps.hasClassesToAsk() {
            throw rejection
        }
        var draft = RequestDraft(wire)
        draft.keepsBody = next.keepsBody
        draft.history = history
        // A body that the request itself holds can be sent again.
        let goesAgain = next.former != nil && next.keepsBody && wire.frozen?.body.data == nil
        if goesAgain { draft.body = body } else { body?.close() }
        return draft
    }

    // MARK: - After a class of the program

    /// The request as the network gets it, if no class takes the target. Never a file.
    private func forNetwork(_ next: NextRequest) -> URLRequest {
        var made = next.request
        switch body {
        case .request: break
        case .data(let data): if next.keepsBody { made.httpBody = data }
        // Open the file, or ask for the stream, anew: the class may have read the one it got.
        case .file, .streamed: if made.bodyStream != nil { made.httpBodyStream = nil }
        }
        return made
    }

    private func freezeForNetwork(_ request: URLRequest, keepsBody: Bool) throws(RequestRejection) -> WireRequest {
        let isStreamed = if case .streamed = body { keepsBody } else { request.bodyStream != nil }
        return try RequestFreezer.freeze(
            request,
            defaults: headers(for: request),
            plan: isStreamed ? .stream : .own,
            expectsContinueAbove: session.settings.expectsContinueAbove
        )
    }
}
