import Dispatch
import Foundation

// Unchecked: everything in it may be shared but for `userInfo`, which is the program's, and which it hands over.
/// What an operation knows, behind its lock.
struct OperationState: @unchecked Sendable {
    var machine = OperationMachine()
    var request: URLRequest
    var world = OperationWorld.system
    var connection: URLConnection?
    /// Where everything of this operation happens once it has begun.
    var home: OperationHome?

    var response: URLResponse?
    var error: (any Error)?
    var responseData: Data?
    var responseString: String?
    var sink: ResponseSink?
    var totalBytesRead: Int64 = 0
    /// -1 if nobody knows.
    var totalBytesExpected: Int64 = -1
    /// Why a server was refused: told in the place of what the connection says.
    var trustError: URLError?
    /// A part was asked for; what comes has to be what goes on there.
    var continuesAt: Int64?
    /// The `Range` that asks for what is missing after a pause. Any other is the caller's.
    var missing: String?

    var runLoopModes: Set<RunLoop.Mode> = [.common]
    var usesCredentialStorage = true
    var credential: URLCredential?
    var securityPolicy = SecurityPolicy()
    var completionQueue: DispatchQueue?
    var completionGroup: DispatchGroup?
    var userInfo: [AnyHashable: Any]?

    var uploadProgress: URLConnectionOperation.ProgressBlock?
    var downloadProgress: URLConnectionOperation.ProgressBlock?
    var challengeBlock: URLConnectionOperation.ChallengeBlock?
    var cacheBlock: URLConnectionOperation.CacheBlock?
    var redirectBlock: URLConnectionOperation.RedirectBlock?
    var expirationHandler: (@Sendable () -> Void)?
    var isBackgroundTask = false
    /// The operation itself, from its end until its completion block is called.
    var keeper: URLConnectionOperation?

    init(_ request: URLRequest) {
        self.request = request
    }

    var range: String? { request.value(forHTTPHeaderField: "Range") }

    /// Without what a pause has added: an operation that has nothing yet asks for everything.
    var wholeRequest: URLRequest {
        var request = request
        if missing != nil, range == missing {
            request.setValue(nil, forHTTPHeaderField: "Range")
            request.setValue(nil, forHTTPHeaderField: "If-Range")
        }
        return request
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

/// How operations reach the network: by connections of the process, on its one thread. Tests have others.
struct OperationWorld: Sendable {
    /// Bytes of a body that are held: as many as a session holds.
    var maximumBodyInMemory = URLSessionConfiguration.default.maximumBodyInMemory
    let makeConnection: @Sendable (URLRequest, any URLConnectionDelegate) -> URLConnection?
    /// Has something done on the network thread.
    let perform: @Sendable ([RunLoop.Mode], @escaping @Sendable () -> Void) -> Void

    static let system = OperationWorld { request, delegate in
        URLConnection(request: request, delegate: delegate, startImmediately: false)
    } perform: { modes, body in
        URLConnection.perform(onNetworkThreadIn: modes, body)
    }
}

/// Where an operation's connection is started, called back and cancelled.
enum OperationHome: Sendable {
    /// The network thread, as in AFNetworking 2.x.
    case networkThread(OperationWorld)
    /// A queue of its own: the output stream is the user's, and may block.
    case queue(OperationQueue)

    func schedule(_ connection: URLConnection, in modes: Set<RunLoop.Mode>) {
        switch self {
        case .networkThread: connection.schedule(onNetworkThreadIn: Array(modes))
        case .queue(let queue): connection.setDelegateQueue(queue)
        }
    }

    /// In order, after everything that was asked before.
    ///
    /// - Parameter modes: The modes of the operation for what loads. What stops, closes or ends happens in the common
    ///   ones: an operation whose modes the network thread never runs in can still be cancelled.
    func perform(in modes: Set<RunLoop.Mode> = [.common], _ body: @escaping @Sendable () -> Void) {
        switch self {
        case .networkThread(let world): world.perform(Array(modes), body)
        case .queue(let queue): queue.addOperation(body)
        }
    }

    static func ownQueue() -> OperationHome {
        let queue = OperationQueue()
        queue.name = "com.alamofire.networking.operation.stream"
        queue.maxConcurrentOperationCount = 1
        return .queue(queue)
    }
}
