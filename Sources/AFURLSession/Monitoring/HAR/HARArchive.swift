import AFBase
import Foundation

// The objects of HAR 1.2, with the names of its fields. Names that HAR does not define begin with an underscore.

struct HARArchive: Encodable {
    let log: Log

    struct Log: Encodable {
        let version = "1.2"
        let creator = Creator()
        let entries: [HAREntry]
        let comment: String?
    }

    struct Creator: Encodable {
        let name = "swift-afnetworking"
        let version = PackageVersion.current
    }

    init(entries: [HAREntry], lost: Int) {
        log = Log(entries: entries, comment: lost == 0 ? nil : "\(lost) older entries were left out.")
    }
}

struct HAREntry: Encodable {
    let startedDateTime: String
    let time: Double
    let request: HARRequest
    let response: HARResponse
    let cache: HARCache
    let timings: HARTimings
    let serverIPAddress: String?
    let connection: String?
    let comment: String?
    let messages: [HARMessage]?
    let omittedMessages: Int?

    private enum CodingKeys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
        /// The name that browsers have for it.
        case messages = "_webSocketMessages"
        case omittedMessages = "_webSocketMessagesOmitted"
    }

    init(_ exchange: RecordedExchange, mask: SecretMask?) {
        startedDateTime = exchange.dates.fetchStart.harText
        timings = HARTimings(dates: exchange.dates, end: exchange.end)
        time = timings.total
        request = HARRequest(exchange, mask: mask)
        response = HARResponse(exchange, mask: mask)
        cache = HARCache(exchange)
        serverIPAddress = exchange.remote
        connection = exchange.connection.map(String.init)
        comment = exchange.comment
        messages = exchange.messages.isEmpty ? nil : exchange.messages.map { $0.masked(mask) }
        omittedMessages = exchange.omittedMessages == 0 ? nil : exchange.omittedMessages
    }
}

struct HARPair: Encodable {
    let name: String
    let value: String
}

extension Date {
    var harText: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

extension RecordedExchange {
    /// What the other fields cannot say.
    fileprivate var comment: String? {
        if fetchType == .localCache { return "From the cache." }
        if dates.requestStart == nil, response != nil { return "Not sent: the proxy did not lead on." }
        if let failure { return failure }
        if dates.requestStart != nil, response == nil { return "No response; the request was sent again." }
        return nil
    }
}
