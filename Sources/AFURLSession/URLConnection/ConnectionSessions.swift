import AFBase
import AFLoop
import Foundation

/// The sessions behind all connections, which the program does not see: one, and one more once a delegate does without
/// the credential storage.
package final class ConnectionSessions: Sendable {
    package static let system = ConnectionSessions(.ofProcess, in: .system)

    let world: World
    private let configuration: URLSessionConfiguration
    private let usual: URLSession
    /// For delegates that do without the storage. They must not get what came from it: this session has a pool and
    /// proven credentials of its own.
    private let withoutStorage = Lock<URLSession?>(nil)
    /// For callers that block. If a URL protocol class blocked to load, the session could not ask it about the request.
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

    /// The session for a caller that blocks its thread until the response is there.
    func sessionForWaiting() -> URLSession {
        guard ProtocolClasses.isCalling else { return usual }
        return ConnectionSessions.made(withoutClasses) {
            let settings = configuration.copied()
            settings.protocolClasses = nil
            return ConnectionSessions.make(settings, in: world, asksRegisteredClasses: false)
        }
    }

    private static func made(_ place: Lock<URLSession?>, _ make: () -> URLSession) -> URLSession {
        if let made = place.withLock({ $0 }) { return made }
        // Two threads may make one at once; release the second one after the lock.
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
