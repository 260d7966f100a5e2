import AFLoop
import AFTransport
import AFWire
import Foundation

/// The state of a task that most tasks never need: made once there is a second exchange, or more to know than the
/// request that is sent. Confined to the loop.
final class Course {
    /// The present request, without what the session adds to it.
    var request: URLRequest
    /// How many redirects the task has followed.
    var redirects = 0
    /// Whether a redirect has led to another origin: from then on the session adds no secrets to the request.
    var hasLeftOrigin = false
    /// Whether a redirect has dropped the task's body.
    var hasDroppedBody = false
    /// The deadline of the task as a whole.
    var hardDeadline: LoopInstant?
    private(set) var former: [ExchangeRecord] = []
    /// How many bytes the heads of the former responses had.
    private(set) var headBytes: Int64 = 0
    /// The authentication with servers and proxies.
    var dealings: Dealings?
    /// Keeps the deadline while no transfer does.
    var clock: CourseClock?
    /// A proxy's response in place of the tunnel to the server.
    var refusal: HTTPURLResponse?
    /// The stored response that the present request asks the server about.
    var validation: CacheValidation?
    /// A response that may not be the task's.
    var held: HeldResponse?
    /// The waits for a network, once there was none.
    var connectivity: ConnectivityWait?
    /// The request to send again once there is a network, if the proxy's route changes it.
    var unaddressed: WireRequest?
    /// The load that takes the place of a transfer.
    var load: ForeignLoad?
    /// Stores the body of a redirect.
    var writer: CacheWriter?
    /// The questions to the task's interceptors.
    var interception: Interception?
    /// Waits for the task's earliest date, and for the delegate's answer about it.
    var delay: DelayedStart?
    /// Work to do when the task is resumed.
    var postponed: (() -> Void)?

    init(_ request: URLRequest) {
        self.request = request
    }

    /// Adds the record of an exchange that has ended, if it was not the last, or not on the network.
    func add(_ record: ExchangeRecord) {
        former.append(record)
        headBytes += record.responseHeadBytes
    }
}

/// A response that the session keeps back until a step has decided whether it is the task's.
final class HeldResponse {
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
    /// Whether the redirect rules apply.
    var mayRedirect: Bool { (300..<400).contains(response.statusCode) }
    /// The part of the body that came together with the head. The transfer reads no more before the decision.
    var body: [UInt8] = []
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
}
