import AFNetworking
import AFURLSession
import Foundation
import Harness

/// What a session knows of hosts that it does not load from. Its requests go to a host with a name, because some of this
/// concerns names only.
struct Knowledge: Sendable {
    enum Kind: String, CaseIterable {
        case nothing
        /// Hosts that ask for TLS.
        case hsts
        /// A user and a password for each host.
        case credentials
        /// A cookie of each host. A storage keeps 3,000.
        case cookies
        /// Hosts that are reached elsewhere; the one that is loaded from comes last.
        case overrides
        /// Rules with pins, one for each host.
        case pins
        /// Hosts with a connection that waits for the next request.
        case idle
        /// Responses in the folder of a cache. Each request is the first of a session that opens it.
        case stored
        /// The same, and what is measured are the requests of another session meanwhile.
        case beside
    }

    static let host = "api.bench.test"

    let kind: Kind
    let count: Int

    /// Nil without `--known`. Ends the program if there is nothing of that name.
    init?(_ arguments: Arguments) {
        guard let name = arguments.known else { return nil }
        guard let kind = Kind(rawValue: name) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            arguments.refuse("--known is one of \(names), not \(name)")
        }
        (self.kind, count) = (kind, arguments.knownCount)
    }

    /// The names of the others, each of a site of its own.
    var others: some Sequence<String> { (0..<count).lazy.map { "www.site\($0).test" } }

    /// - Parameter url: Where the server is.
    func apply(to configuration: URLSessionConfiguration, reaching url: URL) throws {
        let own = HostOverride(host: Self.host, toHost: url.host)
        switch kind {
        case .nothing, .stored, .beside: break
        case .hsts:
            let entries = others.compactMap {
                HSTSStore.Entry(host: $0, includesSubdomains: true, expires: Date(timeIntervalSinceNow: 86_400))
            }
            configuration.strictTransportSecurity = HSTSStore(entries: entries)
        case .credentials: configuration.urlCredentialStorage = credentials()
        case .cookies: configuration.httpCookieStorage = cookies()
        case .pins: configuration.tls.evaluator = try policy()
        case .overrides:
            let all = others.map { HostOverride(host: $0, toHost: "192.0.2.1") } + [own]
            configuration.hostOverrides = all.compactMap { $0 }
            return
        case .idle:
            configuration.hostOverrides = [HostOverride(toHost: url.host)].compactMap { $0 }
            configuration.maximumIdleConnections = count + configuration.httpMaximumConnectionsPerHost
            configuration.idleConnectionTimeout = 900
            return
        }
        configuration.hostOverrides = [own].compactMap { $0 }
    }

    private func credentials() -> URLCredentialStorage {
        let storage = URLCredentialStorage()
        for host in others {
            let space = URLProtectionSpace(
                host: host,
                port: 80,
                protocol: NSURLProtectionSpaceHTTP,
                realm: "all",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
            storage.set(URLCredential(user: "me", password: "secret", persistence: .forSession), for: space)
        }
        return storage
    }

    private func cookies() -> HTTPCookieStorage {
        let storage = HTTPCookieStorage()
        let cookies = others.compactMap { host in
            HTTPCookie(properties: [.name: "session", .value: "0123456789", .domain: host, .path: "/"])
        }
        for cookie in cookies { storage.setCookie(cookie) }
        return storage
    }

    private func policy() throws -> SecurityPolicy {
        let pins = try PinSet(["sha256/\(Data(count: 32).base64EncodedString())"])
        let policy = SecurityPolicy()
        policy.hostRules = try others.map { try .pins($0, pins) }
        return policy
    }

    /// The same resource at the host with a name, or at another.
    func url(_ url: URL, at host: String = Knowledge.host) -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        parts?.host = host
        return parts?.url ?? url
    }
}

/// Completion handlers, whose requests go to the host with a name.
final class NamedClient: Client {
    private let knowledge: Knowledge
    private let client: CompletionClient

    init(_ bench: Bench, _ knowledge: Knowledge) {
        self.knowledge = knowledge
        client = CompletionClient(bench)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        client.load(knowledge.url(url), inFlight: inFlight, tally)
    }
}

/// The same, once the session has a connection to each of the other hosts.
final class IdleHostsClient: Client {
    private static let atATime = 64

    private let bench: Bench
    private let knowledge: Knowledge
    private let client: CompletionClient

    init(_ bench: Bench, _ knowledge: Knowledge) {
        (self.bench, self.knowledge) = (bench, knowledge)
        client = CompletionClient(bench)
        connect()
    }

    private func connect() {
        let (room, done) = (DispatchSemaphore(value: Self.atATime), DispatchGroup())
        for host in knowledge.others {
            room.wait()
            done.enter()
            let request = URLRequest(url: knowledge.url(bench.arguments.url, at: host))
            let task = client.session.dataTask(with: request) { [bench] _, response, error in
                bench.check(response, error)
                room.signal()
                done.leave()
            }
            task.resume()
        }
        done.wait()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        client.load(knowledge.url(url), inFlight: inFlight, tally)
    }
}
