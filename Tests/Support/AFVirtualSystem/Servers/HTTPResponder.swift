import AFNetworkingTesting
package import AFWire

/// A request as a server received it.
package struct VirtualRequest {
    package let method: String
    package let target: String
    package let headers: HTTPHeaders
    package fileprivate(set) var body: [UInt8] = []
    /// Which of its connection's requests it is, from 0.
    package let turn: Int
    /// Whether the client wants to keep the connection.
    package let isPersistent: Bool
}

/// Reads requests and calls a closure to answer them.
package final class HTTPResponder: ServerProgram {
    package enum Moment {
        /// The head has arrived, and a body is still to come.
        case head
        case complete
    }

    /// Answers a request; called at both moments, and sends what it likes when it
    /// likes.
    package typealias Answer = (VirtualRequest, Moment, ServerEnd) -> Void

    private let answer: Answer
    private var input: [UInt8] = []
    private var decoder = RequestDecoder()
    private var request: VirtualRequest?
    private var turn = 0

    package init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    package func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        input.append(contentsOf: bytes)
        var offset = 0
        do {
            while offset < input.count || request != nil {
                let event = try step(&offset)
                guard handle(event, client) else { break }
            }
        } catch {
            client.report("bad request: \(error)")
        }
        input.removeFirst(offset)
    }

    private enum Step {
        case more
        case head(RequestDecoder.Received)
        case body([UInt8])
        case end
    }

    private func step(_ offset: inout Int) throws -> Step {
        let (consumed, step) = try input.withUnsafeBytes { bytes -> (Int, Step) in
            let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            switch step.event {
            case .needMore: return (step.consumed, .more)
            case .head(let received): return (step.consumed, .head(received))
            case .body(let bytes): return (step.consumed, .body(Array(bytes)))
            case .end: return (step.consumed, .end)
            }
        }
        offset += consumed
        return step
    }

    private func handle(_ step: Step, _ client: ServerEnd) -> Bool {
        switch step {
        case .more: return false
        case .head(let received):
            let made = VirtualRequest(
                method: received.request.method,
                target: received.request.target,
                headers: received.request.headers,
                turn: turn,
                isPersistent: received.persistent
            )
            request = made
            turn += 1
            if received.framing != .none, received.framing != .length(0) { answer(made, .head, client) }
        case .body(let bytes): request?.body.append(contentsOf: bytes)
        case .end:
            decoder = RequestDecoder()
            guard let complete = request else { return true }
            request = nil
            answer(complete, .complete, client)
        }
        return true
    }
}
