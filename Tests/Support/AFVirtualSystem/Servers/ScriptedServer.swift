import AFNetworkingTesting
import AFWire

/// Plays a script on one connection.
package final class ScriptedServer: ServerProgram {
    private let steps: [ServerStep]
    private var position = 0
    private var input: [UInt8] = []
    private var decoder = RequestDecoder()
    private var isWaiting = false
    private var isProceeding = false

    package init(_ steps: [ServerStep]) {
        self.steps = steps
    }

    package func connected(_ client: ServerEnd) {
        proceed(client)
    }

    package func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        input.append(contentsOf: bytes)
        proceed(client)
    }

    /// A step may deliver more input; what that allows is done by the loop outside.
    private func proceed(_ client: ServerEnd) {
        guard !isProceeding else { return }
        isProceeding = true
        defer { isProceeding = false }
        while !isWaiting, position < steps.count, perform(steps[position], client) { position += 1 }
    }

    /// False if the step is not done yet.
    private func perform(_ step: ServerStep, _ client: ServerEnd) -> Bool {
        switch step {
        case .expect(let text): return expect(Array(text.utf8), client)
        case .expectRequest: return takeRequest(client)
        case .expectBytes(let count):
            guard input.count >= count else { return false }
            input.removeFirst(count)
        case .reply(let text): client.send(text)
        case .fill(let count): client.send(UInt8(ascii: "v"), count: count)
        case .dribble(let text, let size, let interval): dribble(Array(text.utf8)[...], size, interval, client)
        case .delay(let delay): wait(delay, client)
        case .stall: return false
        case .close: client.close()
        case .halfClose: client.halfClose()
        case .reset: client.reset()
        case .stopReading: client.stopReading()
        case .startReading: client.startReading()
        case .again: position = -1
        }
        return true
    }

    private func expect(_ wanted: [UInt8], _ client: ServerEnd) -> Bool {
        guard input.starts(with: wanted) else {
            if !wanted.starts(with: input) {
                client.report("expected \(wanted.debugText), got \(input.debugText)")
                input = []
            }
            return false
        }
        input.removeFirst(wanted.count)
        return true
    }

    private func takeRequest(_ client: ServerEnd) -> Bool {
        do {
            while !decoder.isFinished {
                let step = try input.withUnsafeBytes { try decoder.decode($0) }
                input.removeFirst(step.consumed)
                if case .needMore = step.event { return false }
            }
            decoder = RequestDecoder()
            return true
        } catch {
            client.report("bad request: \(error)")
            return false
        }
    }

    private func wait(_ delay: Duration, _ client: ServerEnd) {
        isWaiting = true
        client.after(delay) { [self] client in
            isWaiting = false
            proceed(client)
        }
    }

    private func dribble(_ rest: ArraySlice<UInt8>, _ size: Int, _ interval: Duration, _ client: ServerEnd) {
        isWaiting = !rest.isEmpty
        guard isWaiting else { return }
        client.send(Array(rest.prefix(size)))
        client.after(interval) { [self] client in
            dribble(rest.dropFirst(size), size, interval, client)
            proceed(client)
        }
    }
}

extension [UInt8] {
    fileprivate var debugText: String { String(decoding: prefix(200), as: UTF8.self).debugDescription }
}
