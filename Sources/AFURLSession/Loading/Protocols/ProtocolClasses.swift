import AFBase
import AFLoop
import AFTransport
import Foundation
import Synchronization

/// Connects a session's tasks with the URL protocol classes that may load them. Confined to the loop.
final class ProtocolClasses {
    /// The class that loads, and its request.
    struct Choice: Sendable {
        let type: URLProtocol.Type
        let request: URLRequest
    }

    private let configured: [URLProtocol.Type]
    private let asksRegistered: Bool
    private let world: World
    private var ownWorker: (any BlockingWorker)?

    private static let workerLabel = "AFURLSession.protocols"

    /// Whether this thread is calling a class.
    static var isCalling: Bool { CurrentWorker.label == workerLabel }

    /// Nil if the session has no classes to ask, and never will have any.
    init?(settings: ProtocolSettings, asksRegistered: Bool, in world: World) {
        guard asksRegistered || !settings.classes.isEmpty else { return nil }
        configured = settings.classes.compactMap { $0 as? URLProtocol.Type }
        self.asksRegistered = asksRegistered
        self.world = world
    }

    /// The classes in the order in which the session asks them.
    var all: [URLProtocol.Type] { asksRegistered ? configured + ProtocolRegistry.classes : configured }

    /// Runs all code of the classes, one call at a time: classes that were written for one thread keep their state
    /// without locks, and one that blocks delays no other session.
    var worker: any BlockingWorker {
        if let ownWorker { return ownWorker }
        let made = world.workers.ownWorker(ProtocolClasses.workerLabel)
        ownWorker = made
        return made
    }

    /// Asks the classes which of them loads the current request of a task.
    ///
    /// - Parameter done: Called once, on the loop, in a later turn. Nil if no class does.
    func choose(for task: URLSessionTask, request: URLRequest, done: @escaping (Choice?) -> Void) {
        let loop = world.loop
        let classes = all
        let bound = LoopBound(confined: done, on: loop)
        worker.run {
            let type = classes.first { $0.canInit(with: task) }
            let choice = type.map { Choice(type: $0, request: $0.canonicalRequest(for: request)) }
            loop.enqueue { bound.value(choice) }
        }
    }
}

extension URLSessionConfiguration {
    /// Subclasses of ``URLProtocol`` that the session asks about each request, in order, before it loads the request
    /// itself.
    ///
    /// The first class whose `canInit` returns true loads the request; the session asks them again at each redirect. An
    /// empty array unless set, so that `protocolClasses?.insert(MyProtocol.self, at: 0)` works. The session leaves out
    /// what is no subclass. Classes of ``URLProtocol/registerClass(_:)`` belong to ``URLSession/shared``, and to no
    /// configuration.
    public var protocolClasses: [AnyClass]? {
        get { self[\.protocols.classes] }
        set { self[\.protocols.classes] = (newValue ?? []).compactMap { $0 as? URLProtocol.Type } }
    }
}

/// The classes that are registered in this process.
enum ProtocolRegistry {
    private static let registered = Lock<[URLProtocol.Type]>([])
    /// Read before the lock is taken: most programs register no class.
    private static let count = Atomic<Int>(0)

    /// The classes in the order in which the session asks them: the latest first.
    static var classes: [URLProtocol.Type] {
        count.load(ordering: .relaxed) == 0 ? [] : registered.withLock { $0 }
    }

    static func add(_ type: URLProtocol.Type) {
        change { classes in
            classes.removeAll { $0 == type }
            classes.insert(type, at: 0)
        }
    }

    static func remove(_ type: URLProtocol.Type) {
        change { classes in classes.removeAll { $0 == type } }
    }

    private static func change(_ body: (inout [URLProtocol.Type]) -> Void) {
        registered.withLock { classes in
            body(&classes)
            count.store(classes.count, ordering: .relaxed)
        }
    }
}
