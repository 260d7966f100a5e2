import AFTransport

/// A response that the steps judge, with what has arrived of it meanwhile.
final class PendingResponse {
    enum End {
        case finished
        case failed(LoadError)
    }

    let response: HTTPURLResponse
    /// The request that it answers.
    let request: WireRequest
    /// The transfer that received it; nil if it comes from the cache.
    let transfer: Transfer?
    /// Whether the body is decoded already, whatever coding its fields name.
    let isDecoded: Bool
    /// The part of the body that is here. The transfer reads on before the decision, as far as there is room.
    private(set) var body: [UInt8] = []
    var end: End?

    init(_ response: HTTPURLResponse, of transfer: Transfer) {
        self.response = response
        self.transfer = transfer
        request = transfer.request
        isDecoded = false
    }

    init(_ hit: CacheHit, for request: WireRequest) {
        response = hit.response
        transfer = nil
        self.request = request
        isDecoded = hit.isDecoded
        body = [UInt8](hit.body)
        end = .finished
    }

    /// As long as a body of a redirect or an error usually is: then the connection is free while the steps decide.
    private static let room = 64 << 10

    func keep(_ bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes)
        if body.count >= PendingResponse.room { transfer?.pause(.full) }
    }
}
