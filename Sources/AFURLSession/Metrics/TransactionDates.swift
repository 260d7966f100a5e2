import AFLoop
import AFTransport
import Foundation

/// When each phase of one attempt happened, as dates.
struct TransactionDates: Sendable {
    let fetchStart: Date
    let lookupStart: Date?
    let lookupEnd: Date?
    let connectStart: Date?
    let secureStart: Date?
    let secureEnd: Date?
    let connectEnd: Date?
    let requestStart: Date?
    let requestEnd: Date?
    let responseStart: Date?
    let responseEnd: Date?

    init(_ times: TransferTimes, clock: WallClock) {
        let phases = TransferPhases(times)
        fetchStart = clock.date(of: phases.fetchStarted)
        lookupStart = clock.date(ofPhase: phases.lookupStarted)
        lookupEnd = clock.date(ofPhase: phases.lookupEnded)
        connectStart = clock.date(ofPhase: phases.connectStarted)
        secureStart = clock.date(ofPhase: phases.secureStarted)
        secureEnd = clock.date(ofPhase: phases.secureEnded)
        connectEnd = clock.date(ofPhase: phases.connectEnded)
        requestStart = clock.date(ofPhase: phases.requestStarted)
        requestEnd = clock.date(ofPhase: phases.requestEnded)
        responseStart = clock.date(ofPhase: phases.responseStarted)
        responseEnd = clock.date(ofPhase: phases.responseEnded)
    }
}

/// Turns moments of the loop's clock into dates.
struct WallClock: Sendable {
    private let now: LoopInstant
    private let date = Date()

    init(now: LoopInstant) {
        self.now = now
    }

    func date(of instant: LoopInstant) -> Date {
        date.addingTimeInterval(-Double(instant.nanoseconds(to: now)) / 1e9)
    }

    func date(ofPhase instant: LoopInstant?) -> Date? {
        instant.map(date(of:))
    }
}
