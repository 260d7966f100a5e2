import AFLoop
import AFTransport
import Foundation

/// The way from a session's tasks to the classes of the program that load in its place. Confined to the loop.
final class ProtocolDoor {
    /// What is loaded by which class.
    struct Choice: Sendable {
        let type: URLProtocol.Type
        let request: URLRequest
    }

    private let configured: [URLProtocol.Type]
    private let asksRegistered: Bool
    private let world: World
    private var ownWorker: (any BlockingWorker)?

    private static let workerLabel = "AFURLSession.protocols"

    /// Whether a class is being called on this thread.
    static var isCalling: Bool { CurrentWorker.label == workerLabel }

    /// Nil if there is nobody to ask, and never will be.
    init?(_ settings: ProtocolSettings, asksRegistered: Bool, in world: World) {
        guard asksRegistered || !settings.classes.isEmpty else { return nil }
        configured = settings.classes
        self.asksRegistered = asksRegistered
        self.world = world
    }

    /// In the order in which they are asked.
    var classes: [URLProtocol.Type] { asksRegistered ? configured + ProtocolRegistry.classes : configured }

    /// Where all code of the classes runs, one call at a time: classes that were written for one thread keep their
    /// state without locks, and one that blocks holds up no other session.
    var worker: any BlockingWorker {
        if let ownWorker { return ownWorker }
        let made = world.workers.ownWorker(ProtocolDoor.workerLabel)
        ownWorker = made
        return made
    }

    /// Asks the classes who loads the current request of a task.
    ///
    /// - Parameter done: Called once, on the loop, in a later turn. Nil if nobody does.
    func choose(for task: URLSessionTask, _ request: URLRequest, _ done: @escaping (Choice?) -> Void) {
        let loop = world.loop
        let classes = classes
        let bound = LoopBound(confined: done, on: loop)
        worker.run {
            let type = classes.first { $0.canInit(with: task) }
            let choice = type.map { Choice(type: $0, request: $0.canonicalRequest(for: request)) }
            loop.enqueue { bound.value(choice) }
        }
    }
}
