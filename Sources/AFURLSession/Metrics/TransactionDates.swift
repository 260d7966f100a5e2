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

    init(times: TransferTimes, clock: WallClock) {
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
