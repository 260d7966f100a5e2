import AFBase
import AFLoop
import Synchronization

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
