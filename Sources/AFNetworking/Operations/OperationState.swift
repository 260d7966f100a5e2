import AFBase
import Dispatch
import Foundation

/// The state of an operation, behind its lock.
struct OperationState {
    var machine = OperationMachine()
    var request: URLRequest
    var world = OperationWorld.system
    var connection: URLConnection?
    /// Where the connection's work runs, once the operation has begun.
    var scheduler: ConnectionScheduler?

    var response: URLResponse?
    var error: (any Error)?
    var responseData: Data?
    var responseString: String?
    var sink: ResponseSink?
    var totalBytesRead: Int64 = 0
    /// -1 if unknown.
    var totalBytesExpected: Int64 = -1
    /// What answers the challenges of the present attempt.
    var trustRules: OperationTrustRules?
    /// What answered those of the attempt that brought the part to go on from.
    var rulesOfPart: OperationTrustRules?
    /// Why a server was refused; replaces the connection's error.
    var trustError: URLError?
    /// The offset from which the request asks for the rest.
    var continuesAt: Int64?
    /// The `Range` that asks for what is missing after a pause. Any other is the caller's.
    var missing: String?

    var runLoopModes = ConnectionScheduler.commonModes
    var usesCredentialStorage = true
    var credential: URLCredential?
    /// Nil for a default policy that the program has not asked for: most operations get their manager's.
    var securityPolicy: SecurityPolicy?
    var tls: HeldTLSConfiguration?
    /// Gets the operation, which it does not hold: one that never starts would never be released.
    var completion: (@Sendable (URLConnectionOperation) -> Void)?
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?
    var userInfo: [AnyHashable: Any]?

    var uploadProgress: URLConnectionOperation.ProgressBlock?
    var downloadProgress: URLConnectionOperation.ProgressBlock?
    var challengeBlock: URLConnectionOperation.ChallengeBlock?
    /// How often it was set.
    var challengeBlockChanges = 0
    var cacheBlock: URLConnectionOperation.CacheBlock?
    var redirectBlock: URLConnectionOperation.RedirectBlock?
    var expirationHandler: (@Sendable () -> Void)?
    var isBackgroundTask = false
    /// Of a ``HTTPRequestOperation``.
    var serialization = OperationSerialization()

    init(_ request: URLRequest) {
        self.request = request
    }

    var range: String? { request.value(forHTTPHeaderField: "Range") }

    /// The request without the range that a pause has added.
    var wholeRequest: URLRequest {
        var request = request
        if missing != nil, range == missing {
            request.setValue(nil, forHTTPHeaderField: "Range")
            request.setValue(nil, forHTTPHeaderField: "If-Range")
        }
        return request
    }

    /// Loads the whole from the beginning, if the part came under other rules: an impostor may have sent it.
    mutating func dropForeignPart() {
        guard continuesAt != nil, rulesOfPart?.decideLike(OperationTrustRules(self)) != true else { return }
        continuesAt = nil
        request = wholeRequest
        missing = nil
    }

    mutating func takeBlocks(of original: OperationState) {
        uploadProgress = original.uploadProgress
        downloadProgress = original.downloadProgress
        challengeBlock = original.challengeBlock
        cacheBlock = original.cacheBlock
        redirectBlock = original.redirectBlock
        completionQueue = original.completionQueue
        completionGroup = original.completionGroup
    }
}

/// What answers the challenges of one attempt: the operation's settings when it began. A connection serves other
/// operations with the same settings, and so must be judged by these alone. A class, since each question takes a reference.
final class OperationTrustRules: Sendable {
    private static let standardPolicy = SecurityPolicy()

    let block: URLConnectionOperation.ChallengeBlock?
    private let blockChanges: Int
    let credential: URLCredential?
    let policy: SecurityPolicy
    let tls: HeldTLSConfiguration?
    /// The policy as it was; nil for a subclass, whose connections serve no other operation.
    let frozen: FrozenSecurityPolicy?
    private let settings: [UInt8]?

    init(_ state: borrowing OperationState) {
        block = state.challengeBlock
        blockChanges = state.challengeBlockChanges
        credential = state.credential
        policy = state.securityPolicy ?? Self.standardPolicy
        tls = state.tls
        let settings = policy.frozen
        frozen = policy.mayHaveOverrides ? nil : settings
        self.settings = settings.fingerprint
    }

    /// The name of all operations that decide by this policy alone; nil if it has none.
    var name: Data? {
        guard let fingerprint = frozen?.fingerprint else { return nil }
        return Self.latestName.withLock { latest in
            if let latest, latest.fingerprint == fingerprint { return latest.name }
            let name = Data("AFNetworking.URLConnectionOperation ".utf8) + fingerprint
            latest = (fingerprint, name)
            return name
        }
    }

    /// The operations of a manager have a policy in common, and their fingerprints are one array.
    private static let latestName = Lock<(fingerprint: [UInt8], name: Data)?>(nil)

    /// Whether these rules accept the servers that the others accept, and show them the same certificate.
    func decideLike(_ others: OperationTrustRules) -> Bool {
        settings == others.settings && (policy === others.policy || frozen != nil && others.frozen != nil)
            && blockChanges == others.blockChanges
            && tls?.configuration.sharingKey == others.tls?.configuration.sharingKey
            && credential?.identity?.fingerprint == others.credential?.identity?.fingerprint
    }

    func decide(_ trust: ServerTrust, domain: String) -> ServerTrustDecision {
        frozen?.decide(trust, domain: domain) ?? policy.decide(trust, domain: domain)
    }

    /// The host of a request that must not leave: there is no TLS, and so nothing to look for the host's pins in.
    func forbiddenHost(of request: URLRequest) -> String? {
        guard (frozen ?? policy.frozen).pins(request.host ?? ""), request.url?.scheme.map(ASCII.lowered) == "http"
        else { return nil }
        return request.host
    }
}

extension OperationState {
    /// - Parameter asTheyWere: Whether they must be those of the beginning of the attempt.
    func rules(asTheyWere: Bool) -> OperationTrustRules {
        asTheyWere ? trustRules ?? OperationTrustRules(self) : OperationTrustRules(self)
    }
}

/// How operations reach the network: with connections on the process's network thread. Tests replace it.
struct OperationWorld: Sendable {
    /// How many bytes of a body are kept in memory: as many as in a session.
    var maximumBodyInMemory = URLSessionConfiguration.default.maximumBodyInMemory
    let makeConnection: @Sendable (URLRequest, any URLConnectionDelegate) -> URLConnection?
    /// Runs a block on the network thread.
    let perform: @Sendable ([RunLoop.Mode], @escaping @Sendable () -> Void) -> Void

    static let system = OperationWorld { request, delegate in
        URLConnection(request: request, delegate: delegate, startImmediately: false)
    } perform: { modes, body in
        URLConnection.perform(onNetworkThreadIn: modes, body)
    }
}

/// Where an operation's connection is started, called back and cancelled.
enum ConnectionScheduler: Sendable {
    /// The network thread, as in AFNetworking 2.x.
    case networkThread(OperationWorld)
    /// A queue of its own: the output stream is the program's, and may block.
    case queue(OperationQueue)

    static let commonModes: [RunLoop.Mode] = [.common]

    func schedule(_ connection: URLConnection, in modes: [RunLoop.Mode]) {
        switch self {
        case .networkThread: connection.schedule(onNetworkThreadIn: modes)
        case .queue(let queue): connection.setDelegateQueue(queue)
        }
    }

    /// Runs a block after the blocks passed before.
    ///
    /// - Parameter modes: The operation's modes for loading. Stopping, closing and ending use the common modes: an
    ///   operation can be cancelled even if the network thread never runs in its modes.
    func perform(in modes: [RunLoop.Mode] = commonModes, body: @escaping @Sendable () -> Void) {
        switch self {
        case .networkThread(let world): world.perform(modes, body)
        case .queue(let queue): queue.addOperation(body)
        }
    }

    static func ownQueue() -> ConnectionScheduler {
        let queue = OperationQueue()
        queue.name = "com.alamofire.networking.operation.stream"
        queue.maxConcurrentOperationCount = 1
        return .queue(queue)
    }
}
