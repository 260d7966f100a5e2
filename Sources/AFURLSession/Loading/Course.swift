import AFLoop
import AFTransport
import AFWire
import Foundation

/// What a task has been through, once its first exchange has turned out not to be its only one, or once there is more
/// to know about it than what is sent. Confined to the loop.
final class Course {
    /// The request under way, without what the session adds to it.
    var request: URLRequest
    /// How many redirects were followed.
    var redirects = 0
    /// Secrets are left out from here on, whatever the session adds to requests.
    var hasLeftOrigin = false
    /// The body of the task was left behind with a redirect.
    var hasDroppedBody = false
    /// For the task as a whole.
    var hardDeadline: LoopInstant?
    private(set) var former: [ExchangeRecord] = []
    /// What the heads of former responses took.
    private(set) var headBytes: Int64 = 0
    /// With those who ask for credentials.
    var dealings: Dealings?
    /// Runs as long as no transfer's does.
    var clock: CourseClock?
    /// What a proxy said in place of leading on to the server.
    var refusal: HTTPURLResponse?
    /// What the cache has for the request under way.
    var validation: CacheValidation?
    /// What has come of a response that may not be the task's.
    var held: HeldResponse?
    /// Once there was no network.
    var connectivity: ConnectivityWait?
    /// What is sent again when there is one, if the way through a proxy changes it.
    var unaddressed: WireRequest?
    /// What stands in the place of a transfer.
    var load: ForeignLoad?
    /// Takes the body of a redirect that may be stored.
    var writer: CacheWriter?
    /// Those who have a say in its requests.
    var interception: Interception?
    /// Until the task may begin, and somebody has said how.
    var delay: DelayedStart?
    /// To be done when the task is suspended no longer.
    var postponed: (() -> Void)?

    init(_ request: URLRequest) {
        self.request = request
    }

    /// An exchange is over and was not the last, or not the network's.
    func add(_ record: ExchangeRecord) {
        former.append(record)
        headBytes += record.responseHeadBytes
    }
}

/// A response that is kept back until somebody has decided what it is.
final class HeldResponse {
    enum End {
        case finished
        case failed(LoadError)
    }

    let response: HTTPURLResponse
    /// What it answers.
    let request: WireRequest
    /// Where it comes from; nil if that is the cache.
    let transfer: Transfer?
    /// Whether the body has lost the coding that the fields tell of.
    let isDecoded: Bool
    /// Whether the redirect rules have a say.
    var mayRedirect: Bool { (300..<400).contains(response.statusCode) }
    /// What was read together with the head. No more is read until it is decided.
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
