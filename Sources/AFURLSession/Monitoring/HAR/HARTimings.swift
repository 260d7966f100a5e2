import Foundation

/// How long each phase took, in milliseconds; -1 for those that did not happen.
///
/// `ssl` is part of `connect`. `blocked` is all the rest, so the sum is the time from beginning to end.
struct HARTimings: Encodable {
    let blocked: Double
    let dns: Double
    let connect: Double
    let send: Double
    let wait: Double
    let receive: Double
    let ssl: Double

    init(dates: TransactionDates, end: Date) {
        /// A phase that did not end took until the end of the attempt.
        func span(_ from: Date?, to: Date?) -> Double? {
            from.map { Self.rounded(max(0, (to ?? end).timeIntervalSince($0)) * 1000) }
        }
        dns = span(dates.lookupStart, to: dates.lookupEnd) ?? -1
        connect = span(dates.connectStart, to: dates.connectEnd) ?? -1
        ssl = span(dates.secureStart, to: dates.secureEnd) ?? -1
        send = span(dates.requestStart, to: dates.requestEnd ?? dates.responseStart) ?? 0
        wait = span(dates.requestEnd, to: dates.responseStart) ?? 0
        receive = span(dates.responseStart, to: end) ?? 0
        let known = max(0, dns) + max(0, connect) + send + wait + receive
        blocked = Self.rounded(max(0, (span(dates.fetchStart, to: end) ?? 0) - known))
    }

    var total: Double { Self.rounded(blocked + max(0, dns) + max(0, connect) + send + wait + receive) }

    private static func rounded(_ milliseconds: Double) -> Double { (milliseconds * 1000).rounded() / 1000 }
}
