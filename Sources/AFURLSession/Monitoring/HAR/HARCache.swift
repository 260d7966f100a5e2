struct HARCache: Encodable {
    struct State: Encodable {
        let lastAccess: String
        let eTag: String
        let hitCount = 1
    }

    let beforeRequest: State?

    init(_ exchange: RecordedExchange) {
        guard exchange.fetchType == .localCache else {
            beforeRequest = nil
            return
        }
        let tag = exchange.response?.value(forHTTPHeaderField: "ETag") ?? ""
        beforeRequest = State(lastAccess: exchange.dates.fetchStart.harText, eTag: tag)
    }
}
