import AFBase
import AFLoop
import Foundation

/// The sessions behind all connections, which nobody sees: one, and one more once there is a delegate that will not have
/// the credential storage asked.
package final class ConnectionSessions: Sendable {
    package static let system = ConnectionSessions(.default, in: .system)

    let world: World
    private let configuration: URLSessionConfiguration
    private let usual: URLSession
    /// What came from the storage must not be found again by those who would not have it asked: no pool, no proven
    /// credentials in common.
    private let withoutStorage = Lock<URLSession?>(nil)
    /// A class of the program that waits for a load would be asked about it, and could not answer.
    private let withoutClasses = Lock<URLSession?>(nil)

    package init(_ configuration: URLSessionConfiguration, in world: World) {
        self.world = world
        configuration.callsBackOnNetworkThread = true
        self.configuration = configuration
        usual = ConnectionSessions.make(configuration, in: world)
    }

    private static func make(
        _ configuration: URLSessionConfiguration,
        in world: World,
        asksRegisteredClasses: Bool = true
    ) -> URLSession {
        URLSession(
            configuration: configuration,
            delegate: nil,
            delegateQueue: nil,
            world: world,
            asksRegisteredClasses: asksRegisteredClasses
        )
    }

    func session(usingCredentialStorage usesStorage: Bool) -> URLSession {
        guard !usesStorage else { return usual }
        return ConnectionSessions.made(withoutStorage) {
            let settings = configuration.copied()
            settings.urlCredentialStorage = nil
            return ConnectionSessions.make(settings, in: world)
        }
    }

    /// For a caller that blocks its thread until the answer is there.
    func sessionForWaiting() -> URLSession {
        guard ProtocolDoor.isCalling else { return usual }
        return ConnectionSessions.made(withoutClasses) {
            let settings = configuration.copied()
            settings.protocolClasses = nil
            return ConnectionSessions.make(settings, in: world, asksRegisteredClasses: false)
        }
    }

    private static func made(_ place: Lock<URLSession?>, _ make: () -> URLSession) -> URLSession {
        if let made = place.withLock({ $0 }) { return made }
        // Of two that are made at once one goes: not under the lock.
        let session = make()
        return place.withLock { state in
            if let winner = state { return winner }
            state = session
            return session
        }
    }

    func perform(in modes: LoopModes, _ block: @escaping @Sendable () -> Void) {
        guard world.unavailability() == nil else { return block() }
        world.loop.enqueue(in: modes, block)
    }

    /// For tests, whose worlds end.
    package func invalidate() {
        usual.invalidateAndCancel()
        withoutStorage.withLock { $0 }?.invalidateAndCancel()
        withoutClasses.withLock { $0 }?.invalidateAndCancel()
    }
}
