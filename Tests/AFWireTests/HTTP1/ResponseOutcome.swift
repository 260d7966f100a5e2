import AFWire
import Testing

/// All that a decoder said about one response.
///
/// Of an error only the kind is kept: how much of a broken line an error can show
/// depends on how much of it had arrived.
struct ResponseOutcome: Equatable, CustomStringConvertible {
    var interim: [ResponseHead] = []
    var head: ResponseHead?
    var body: [UInt8] = []
    var trailers: [String]?
    var error: HTTP1Error.Kind?
    var framedExactly = false
    var surplus = 0

    var status: Int? { head?.status }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Complete, and nothing stands in the way of another request.
    var mayReuse: Bool { framedExactly && surplus == 0 }

    var description: String {
        let end = error.map { "\($0)" } ?? (trailers == nil ? "unfinished" : "end \(trailers ?? [])")
        let heads = (interim.map(\.status) + [status].compactMap { $0 }).map(String.init).joined(separator: " ")
        return "[\(heads)] \"\(text)\" \(end)\(mayReuse ? ", reusable" : "") surplus \(surplus)"
    }
}

/// How a response is fed to the decoder.
struct ResponseSetting: Sendable {
    var method = "GET"
    var limits = HTTP1Limits.standard
    var headBudget: Int?
    var isFresh = false
    var closes = false

    /// Decodes `bytes` as they come in `delivery`.
    func outcome(of bytes: [UInt8], _ delivery: Delivery) -> ResponseOutcome {
        var decoder = ResponseDecoder(
            method: method,
            limits: limits,
            headBudget: headBudget,
            allowsLeadingEmptyLine: isFresh
        )
        var outcome = ResponseOutcome()
        do throws(HTTP1Error) {
            for piece in delivery.pieces(of: bytes) { try outcome.feed(piece, to: &decoder) }
            if closes, !decoder.isFinished { outcome.note(try decoder.inputEnded()) }
        } catch {
            outcome.error = error.kind
        }
        outcome.framedExactly = decoder.framedExactly
        return outcome
    }

    /// Decodes `wire` in every delivery, insists that all agree, and returns what
    /// they agree on.
    func outcome(
        of wire: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> ResponseOutcome {
        outcome(of: Array(wire.utf8), sourceLocation: sourceLocation)
    }

    func outcome(
        of bytes: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> ResponseOutcome {
        let deliveries = Delivery.all(of: bytes.count)
        let first = outcome(of: bytes, deliveries[0])
        for delivery in deliveries.dropFirst() {
            let other = outcome(of: bytes, delivery)
            guard other != first else { continue }
            Issue.record("\(delivery): \(other), in one piece: \(first)", sourceLocation: sourceLocation)
            break
        }
        return first
    }
}

extension ResponseOutcome {
    fileprivate mutating func feed(_ piece: [UInt8], to decoder: inout ResponseDecoder) throws(HTTP1Error) {
        var offset = 0
        var steps = 0
        while true {
            if decoder.isFinished {
                surplus += piece.count - offset
                return
            }
            steps += 1
            guard steps <= 4 * piece.count + 8 else {
                Issue.record("the decoder does not move on")
                return
            }
            let rest = Array(piece[offset...])
            let (consumed, isWaiting) = try take(rest, from: &decoder)
            offset += consumed
            if isWaiting {
                #expect(offset == piece.count, "asked for more before taking all")
                return
            }
        }
    }

    private mutating func take(
        _ input: [UInt8],
        from decoder: inout ResponseDecoder
    ) throws(HTTP1Error) -> (consumed: Int, isWaiting: Bool) {
        let result: Result<(Int, Bool), HTTP1Error> = input.withUnsafeBytes { bytes in
            do throws(HTTP1Error) {
                let step = try decoder.decode(bytes)
                note(step.event)
                if case .needMore = step.event { return .success((step.consumed, true)) }
                return .success((step.consumed, false))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    fileprivate mutating func note(_ event: ResponseDecoder.Event) {
        switch event {
        case .needMore: break
        case .interim(let head): interim.append(head)
        case .head(let head): self.head = head
        case .body(let bytes):
            #expect(!bytes.isEmpty, "an empty body slice")
            body += bytes
        case .end(let trailers): self.trailers = trailers.fields.map { "\($0.name): \($0.value)" }
        }
    }
}
