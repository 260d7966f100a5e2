import AFBase
import AFLoop
import AFTransport
import Foundation

/// The sessions behind all connections, which the program does not see: one, one more once a delegate does without the
/// credential storage, and one for each configuration of TLS that connections have lately had.
package final class ConnectionSessions: Sendable {
    package static let system = ConnectionSessions(configuration: .ofProcess, in: .system)

    let world: World
    private let configuration: URLSessionConfiguration
    private let usual: URLSession
    /// For delegates that do without the storage. They must not get what came from it: this session has a pool and
    /// proven credentials of its own.
    private let withoutStorage = Lock<URLSession?>(nil)
    /// For callers that block. If a URL protocol class blocked to load, the session could not ask it about the request.
    private let withoutClasses = Lock<URLSession?>(nil)
    /// For connections with a configuration of TLS of their own; the one used last stands at the end.
    private let secured = Lock<[Secured]>([])
    /// A session that is no longer in the list ends with its connections.
    private static let mostSecured = 8

    private struct Secured {
        let key: [UInt8]
        let session: URLSession
    }

    package init(configuration: URLSessionConfiguration, in world: World) {
        self.world = world
        configuration.callsBackOnNetworkThread = true
        configuration[\.allowsEveryResponse] = true
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
            callbackQueue: DelegateQueue(),
            world: world,
            asksRegisteredClasses: asksRegisteredClasses
        )
    }

    func session(usingCredentialStorage usesStorage: Bool, securedBy tls: TLSConfiguration? = nil) -> URLSession {
        if let tls { return session(securedBy: tls, usingCredentialStorage: usesStorage, asksRegisteredClasses: true) }
        guard !usesStorage else { return usual }
        return ConnectionSessions.made(withoutStorage) {
            let settings = configuration.copied()
            settings.urlCredentialStorage = nil
            return ConnectionSessions.make(settings, in: world)
        }
    }

    /// The session for a caller that blocks its thread until the response is there.
    func sessionForWaiting(securedBy tls: TLSConfiguration? = nil) -> URLSession {
        let asksClasses = !ProtocolClasses.isCalling
        if let tls { return session(securedBy: tls, usingCredentialStorage: true, asksRegisteredClasses: asksClasses) }
        guard !asksClasses else { return usual }
        return ConnectionSessions.made(withoutClasses) {
            let settings = configuration.copied()
            settings.protocolClasses = nil
            return ConnectionSessions.make(settings, in: world, asksRegisteredClasses: false)
        }
    }

    private func session(
        securedBy tls: TLSConfiguration,
        usingCredentialStorage usesStorage: Bool,
        asksRegisteredClasses: Bool
    ) -> URLSession {
        let key = tls.sharingKey + [usesStorage ? 1 : 0, asksRegisteredClasses ? 1 : 0]
        if let known = find(key) { return known }
        let settings = configuration.copied()
        settings.tls = tls
        if !usesStorage { settings.urlCredentialStorage = nil }
        if !asksRegisteredClasses { settings.protocolClasses = nil }
        let made = ConnectionSessions.make(settings, in: world, asksRegisteredClasses: asksRegisteredClasses)
        // Two threads may make one at once. Release what is dropped after the lock.
        let (session, dropped) = secured.withLock { list -> (URLSession, [Secured]) in
            if let winner = list.first(where: { $0.key == key }) { return (winner.session, []) }
            list.append(Secured(key: key, session: made))
            let dropped = list.prefix(max(0, list.count - ConnectionSessions.mostSecured))
            list.removeFirst(dropped.count)
            return (made, Array(dropped))
        }
        withExtendedLifetime(dropped) {}
        return session
    }

    private func find(_ key: [UInt8]) -> URLSession? {
        secured.withLock { list in
            guard let place = list.firstIndex(where: { $0.key == key }) else { return nil }
            let found = list.remove(at: place)
            list.append(found)
            return found.session
        }
    }

    private static func made(_ place: Lock<URLSession?>, make: () -> URLSession) -> URLSession {
        if let made = place.withLock({ $0 }) { return made }
        // Two threads may make one at once; release the second one after the lock.
        let session = make()
        return place.withLock { state in
            if let winner = state { return winner }
            state = session
            return session
        }
    }

    func perform(in modes: LoopModes, block: @escaping @Sendable () -> Void) {
        guard world.unavailability() == nil else { return block() }
        world.loop.enqueue(in: modes, body: block)
    }

    /// For tests, whose worlds end.
    package func invalidate() {
        usual.invalidateAndCancel()
        withoutStorage.withLock { $0 }?.invalidateAndCancel()
        withoutClasses.withLock { $0 }?.invalidateAndCancel()
        for session in secured.withLock({ $0 }) { session.session.invalidateAndCancel() }
    }
}

extension TLSConfiguration {
    /// Configurations with equal keys judge and identify alike, now and later.
    ///
    /// An evaluator that is an object may change: it counts by what it is, not by how it decides now. One that is a value
    /// counts by its fingerprint, and without one it equals no other.
    package var sharingKey: [UInt8] {
        let rest = fingerprint(nil, unnamed: 0)
        guard let evaluator else { return rest }
        if type(of: evaluator) is AnyClass {
            let address = UInt(bitPattern: ObjectIdentifier(evaluator as AnyObject))
            return rest + Array("object \(address)".utf8)
        }
        return rest + fingerprint(evaluator, unnamed: Int(truncatingIfNeeded: UniqueNumber.next()))
    }
}
