@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    /// The order of a transfer's phases, whatever was noted of them.
    struct Phases {
        private func at(_ nanoseconds: Int64) -> LoopInstant { LoopInstant(nanoseconds: nanoseconds) }

        @Test("a response that begins before its request has ended ends it, T-API-34")
        func earlyAnswer() {
            var times = TransferTimes(fetchStarted: at(10))
            times.requestStarted = at(20)
            times.requestEnded = at(50)
            times.responseStarted = at(30)
            times.responseEnded = at(60)

            let phases = TransferPhases(times)

            #expect(phases.requestStarted == at(20) && phases.requestEnded == at(30))
            #expect(phases.responseStarted == at(30) && phases.responseEnded == at(60))
            #expect(phases.lookupStarted == nil && phases.connectStarted == nil && phases.secureStarted == nil)
        }

        @Test("a phase that did not happen has no time, T-API-34")
        func nothing() {
            let phases = TransferPhases(TransferTimes(fetchStarted: at(10)))
            #expect(phases.fetchStarted == at(10) && phases.requestStarted == nil && phases.responseEnded == nil)
        }

        @Test("a response of the cache took as long as the cache, T-API-34")
        func cached() {
            let phases = TransferPhases(TransferTimes(servedFromCacheAt: at(30), asked: at(10)))
            #expect(phases.fetchStarted == at(10) && phases.requestStarted == at(10))
            #expect(phases.requestEnded == at(30) && phases.responseStarted == at(30))
        }
    }
}
