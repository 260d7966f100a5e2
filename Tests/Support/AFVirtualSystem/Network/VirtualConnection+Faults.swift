import AFLoop
import Glibc

/// How far the exchange on a connection has come, as a device on the way sees it.
enum FaultPhase {
    case idle
    case request
    case answer
}

/// How a device on the way ends a connection.
package enum FaultCut: Sendable {
    case reset
    case end
}

extension VirtualConnection {
    func strikeWhenEstablished() {
        if faults.strikes(.dialThenReset) { cutOff(.reset) }
        if faults.strikes(.dialThenEnd) { cutOff(.end) }
    }

    /// The answer is complete, and the connection waits for another request.
    func strikeWhenIdle() {
        func later(_ point: FaultPoint, _ cut: FaultCut) {
            guard faults.strikes(point) else { return }
            let delay = Duration.nanoseconds(faults.delay(point, milliseconds: 0...60))
            network.clock.after(delay) { [self] in if isAnswered { cutOff(cut) } }
        }
        later(.resetWhenIdle, .reset)
        later(.endWhenIdle, .end)
    }

    func strikeLink() {
        if faults.strikes(.linkHalfOpen) { (isDeaf, isMute) = (true, true) }
        if faults.strikes(.linkDeaf) { isDeaf = true }
        if faults.strikes(.linkMute) { isMute = true }
        if faults.strikes(.linkPause) { hold(faults.delay(.linkPause, milliseconds: 1...300)) }
        if faults.strikes(.linkPartition) { hold(faults.delay(.linkPartition, milliseconds: 1000...90_000)) }
    }

    /// Bytes of a request arrive: the first ones, or more of them.
    func cutInRequest() -> FaultCut? {
        let isFirst = phase != .request
        phase = .request
        if faults.strikes(isFirst ? .resetBeforeAnswer : .resetInRequest) { return .reset }
        return isFirst && faults.strikes(.endBeforeAnswer) ? .end : nil
    }

    /// Bytes of an answer leave.
    func cutInAnswer() -> FaultCut? {
        let isFirst = phase != .answer
        phase = .answer
        if faults.strikes(isFirst ? .resetInHead : .resetInBody) { return .reset }
        return faults.strikes(isFirst ? .endInHead : .endInBody) ? .end : nil
    }
}

extension Faults {
    var readError: Int32? {
        if strikes(.readReset) { return ECONNRESET }
        if strikes(.readTimedOut) { return ETIMEDOUT }
        return strikes(.readUnreachable) ? EHOSTUNREACH : nil
    }

    var writeError: Int32? {
        if strikes(.writeReset) { return ECONNRESET }
        if strikes(.writeTimedOut) { return ETIMEDOUT }
        return strikes(.writeBrokenPipe) ? EPIPE : nil
    }

    func capRead(_ cap: Int, of available: Int) -> Int {
        guard available > 1 else { return cap }
        if strikes(.readOneByte) { return min(cap, 1) }
        let short = strikes(.readShort) ? min(cap, draw(.readShort, 1...min(available, 4096))) : cap
        if short == cap, cap < available { note(.readShort) }
        return short
    }

    func capWrite(_ cap: Int, of wanted: Int) -> Int {
        guard wanted > 1 else { return cap }
        if strikes(.writeOneByte) { return min(cap, 1) }
        let short = strikes(.writeShort) ? min(cap, draw(.writeShort, 1...min(wanted, 4096))) : cap
        if short == cap, cap < wanted { note(.writeShort) }
        return short
    }

    func split(_ segment: Int) -> Int {
        strikes(.segmentSplit) ? min(segment, draw(.segmentSplit, 1...16)) : segment
    }

    /// In nanoseconds.
    var lateArrival: Int? {
        if strikes(.segmentVeryLate) { return delay(.segmentVeryLate, milliseconds: 1000...90_000) }
        return strikes(.segmentLate) ? delay(.segmentLate, milliseconds: 1...200) : nil
    }
}
