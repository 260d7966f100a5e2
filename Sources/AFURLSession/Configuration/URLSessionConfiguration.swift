import AFBase
import AFLoop
public import AFState
import AFTLS
import AFTransport
public import Foundation

/// How a session behaves. A session copies its configuration when it is made.
///
/// Safe to use from any thread.
public final class URLSessionConfiguration: NSObject, NSCopying, Sendable {
    private let state: Lock<SessionSettings>

    /// A new configuration with the default settings.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration(SessionSettings()) }

    /// A new configuration for sessions that keep nothing once they are gone: their stores are in memory, and belong to
    /// this configuration alone.
    public class var ephemeral: URLSessionConfiguration {
        var settings = SessionSettings()
        settings.cache = .inMemory()
        settings.credentials = .ephemeral
        settings.cookies = .ephemeral
        return URLSessionConfiguration(settings)
    }

    init(_ settings: SessionSettings) {
        state = Lock(settings)
        super.init()
    }

    /// A new configuration with the default settings: ``default`` by another name.
    public convenience override init() {
        self.init(SessionSettings())
    }

    var settings: SessionSettings { state.withLock { $0 } }

    /// A configuration with the same settings, independent of this one.
    public func copied() -> URLSessionConfiguration { URLSessionConfiguration(settings) }

    /// A configuration with the same settings, as ``copied()`` makes it.
    public func copy(with zone: NSZone? = nil) -> Any { copied() }

    subscript<Value>(_ setting: WritableKeyPath<SessionSettings, Value>) -> Value {
        get { state.withLock { $0[keyPath: setting] } }
        set { state.withLock { $0[keyPath: setting] = newValue } }
    }
}

// MARK: - Foundation's settings

extension URLSessionConfiguration {
    /// How long a task waits for *something* to happen, in seconds: any progress in either direction starts the time
    /// anew. It stands still while the task is suspended or waits for its delegate. A request's own `timeoutInterval`
    /// takes precedence. 60 by default; not positive means 60.
    public var timeoutIntervalForRequest: TimeInterval {
        get { self[\.timeoutIntervalForRequest] }
        set { self[\.timeoutIntervalForRequest] = newValue }
    }

    /// How long a whole task may take, in seconds, retries included. It stands still while the task is suspended. 7
    /// days by default; not positive means 7 days.
    public var timeoutIntervalForResource: TimeInterval {
        get { self[\.timeoutIntervalForResource] }
        set { self[\.timeoutIntervalForResource] = newValue }
    }

    /// The cache policy of requests that do not name one themselves.
    public var requestCachePolicy: URLRequest.CachePolicy {
        get { self[\.cachePolicy] }
        set { self[\.cachePolicy] = newValue }
    }

    /// Header fields for every request that does not have them. The session takes the descriptions of keys and values.
    /// A field that is not valid fails the requests.
    public var httpAdditionalHeaders: [AnyHashable: Any]? {
        get {
            let headers = self[\.additionalHeaders]
            return headers.isEmpty ? nil : headers
        }
        set {
            let fields = (newValue ?? [:]).map { ("\($0.key)", "\($0.value)") }
            self[\.additionalHeaders] = Dictionary(fields) { first, _ in first }
        }
    }

    /// Which of ``httpAdditionalHeaders`` do not go to another origin.
    package func additionalSecrets(under policy: RedirectPolicy) -> Set<String> {
        Set(self[\.additionalHeaders].keys.filter(policy.withholds))
    }

    /// Whether the session may send each of its requests before those in front of it have responses, as if its own
    /// ``/AFURLTypes/URLRequest/httpShouldUsePipelining`` were set. False by default.
    public var httpShouldUsePipelining: Bool {
        get { self[\.usesPipelining] }
        set { self[\.usesPipelining] = newValue }
    }

    /// How many connections a session may have to one host at a time; further tasks wait, by priority and then in
    /// order. 6 by default; less than 1 means 1.
    public var httpMaximumConnectionsPerHost: Int {
        get { self[\.pool.maximumConnectionsPerHost] }
        set { self[\.pool.maximumConnectionsPerHost] = newValue }
    }
}

// MARK: - TLS versions under Foundation's names

extension URLSessionConfiguration {
    /// The oldest version of TLS that the session speaks: ``/AFTransport/TLSConfiguration/minimumVersion`` by another
    /// name. It speaks none before 1.2; setting one means 1.2.
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { tls.minimumVersion.number }
        set { tls.minimumVersion = TLSVersion(atLeast: newValue) }
    }

    /// The newest version of TLS that the session speaks: ``/AFTransport/TLSConfiguration/maximumVersion`` by another
    /// name. It speaks none before 1.2; setting one means 1.2.
    public var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { tls.maximumVersion.number }
        set { tls.maximumVersion = TLSVersion(atLeast: newValue) }
    }
}

extension TLSVersion {
    fileprivate init(atLeast number: tls_protocol_version_t) {
        self = number == .TLSv13 ? .v1_3 : .v1_2
    }

    fileprivate var number: tls_protocol_version_t {
        switch self {
        case .v1_2: .TLSv12
        case .v1_3: .TLSv13
        }
    }
}

// MARK: - Settings that Foundation does not have

extension URLSessionConfiguration {
    /// How many idle connections a session keeps, to all hosts together; if there are more, it closes the ones that
    /// were idle longest. 64 by default, and never less than one host may have.
    public var maximumIdleConnections: Int {
        get { self[\.pool.maximumIdleConnections] }
        set { self[\.pool.maximumIdleConnections] = newValue }
    }

    /// How many connections the session keeps idle at least, by a URL of their origin, from the moment it is made until you
    /// invalidate it. Empty unless set. It makes them as ``URLSession/connect(to:count:)`` does: another one at once when a
    /// request takes one, and when one is closed after a second, up to a minute while they do not last ten seconds.
    public var minimumIdleConnections: [URL: Int] {
        get { self[\.pool.minimumIdleConnections] }
        set { self[\.pool.minimumIdleConnections] = newValue }
    }

    /// How long the session keeps an idle connection, in seconds. If a server announces less (`Keep-Alive: timeout=`),
    /// that counts. 60 by default; not positive means not at all.
    public var idleConnectionTimeout: TimeInterval {
        get { self[\.pool.idleConnectionTimeout] }
        set { self[\.pool.idleConnectionTimeout] = newValue }
    }

    /// The age after which a connection serves no further request, in seconds, so that the session notices changes in
    /// the network. 600 by default; not positive means one request each.
    public var maximumConnectionAge: TimeInterval {
        get { self[\.pool.maximumConnectionAge] }
        set { self[\.pool.maximumConnectionAge] = newValue }
    }

    /// The longest response body that the session collects for a completion handler or an `async` caller, in bytes; a
    /// longer one fails the task. It does not limit delegates. 1 GiB by default; 0 or less allows only empty bodies.
    public var maximumBodyInMemory: Int {
        get { self[\.maximumBodyInMemory] }
        set { self[\.maximumBodyInMemory] = newValue }
    }

    /// Whether a session without a delegate queue of yours calls back on the network thread itself. False by default.
    ///
    /// This saves handing each result to another thread, which costs more than a small request does. In return every
    /// callback must be short and must never block: meanwhile no session of the process makes progress, and waiting for
    /// a session in a callback is waiting for ever. The session removes the file of a download after its callback has
    /// returned, but perhaps not before the next one.
    public var callsBackOnNetworkThread: Bool {
        get { self[\.callsBackOnNetworkThread] }
        set { self[\.callsBackOnNetworkThread] = newValue }
    }

    /// The session announces a body that is longer than this with `Expect: 100-continue` and keeps it back until the server
    /// has said that it wants it. A server that refuses large uploads, or wants credentials first, then says so before
    /// the session sends them. A body of unknown length counts as longer than any number.
    ///
    /// Nil, the default, means never, as in Apple's session: servers that do not know the field cost
    /// ``continueTimeout`` each time. The session always sends a request's own `Expect` field.
    public var expectsContinueAbove: Int64? {
        get { self[\.expectsContinueAbove] }
        set { self[\.expectsContinueAbove] = newValue }
    }

    /// How long the session keeps a body back for a server that does not answer the announcement, in seconds; then it
    /// sends the body. 1 by default; not positive means not at all.
    public var continueTimeout: TimeInterval {
        get { self[\.pool.continueTimeout] }
        set { self[\.pool.continueTimeout] = newValue }
    }

    /// How the session secures connections: which servers it trusts, and how it identifies itself.
    public var tls: TLSConfiguration {
        get { self[\.tls] }
        set { self[\.tls] = newValue }
    }

    /// The folder for unfinished downloads. In it, the session makes a folder of its own that no other user can enter.
    /// Nil is the system's folder for temporary files (`TMPDIR`, else `/tmp`).
    ///
    /// Choose a folder on the file system to which you move downloads: that saves copying them. A session that has
    /// downloaded keeps its folder open, so the file system stays mounted until you invalidate the session.
    public var temporaryFolder: URL? {
        get { self[\.temporaryFolder].map { URL(fileURLWithPath: $0, isDirectory: true) } }
        set { self[\.temporaryFolder] = newValue.map { $0.isFileURL ? $0.absoluteURL.path : $0.absoluteString } }
    }

    /// Connect every request of the session to this Unix-domain socket, whatever host
    /// its URL names. The URL still gives the Host field.
    public var unixDomainSocketPath: String? {
        get { self[\.unixDomainSocketPath] }
        set { self[\.unixDomainSocketPath] = newValue }
    }
}

extension URLSessionConfiguration {
    /// The hosts that the session connects to over TLS only. Nil, the default: it neither asks nor learns.
    public var strictTransportSecurity: HSTSStore? {
        get { self[\.transportSecurity] }
        set { self[\.transportSecurity] = newValue }
    }
}

extension URLSessionConfiguration {
    /// The storage in which the session looks up credentials when a server or proxy asks for them, and stores those
    /// that a delegate gave and the server accepted. ``/AFURLTypes/URLCredentialStorage/shared``, or for ``ephemeral``
    /// one of its own; nil for neither.
    public var urlCredentialStorage: URLCredentialStorage? {
        get { self[\.credentials.storage] }
        set { self[\.credentials.storage] = newValue }
    }

    // MARK: - Settings that Foundation does not have

    /// Credentials for hosts that ask, where the URL and the storage have none. Nil by default: a session opens no such
    /// file by itself, whatever the environment says.
    public var netrc: NetrcFile? {
        get { self[\.credentials.netrc] }
        set { self[\.credentials.netrc] = newValue }
    }

    /// Whether the session sends passwords and tokens without TLS wherever a server offers nothing better than Basic or
    /// Bearer. False by default: it sends them only where you allowed it for that very place (by the answer of a
    /// delegate, or by a credential that is stored for this method of this `http` space), and to this machine itself.
    /// Digest does not send the password.
    ///
    /// An attacker who can change a server's responses without TLS can make it ask for the password in plain text.
    public var sendsPasswordsInClear: Bool {
        get { self[\.credentials.sendsPasswordsInClear] }
        set { self[\.credentials.sendsPasswordsInClear] = newValue }
    }

    /// How often the session repeats a request because a server asks for credentials, and as often again for a proxy.
    /// After that it delivers the response that asks. 3 by default; never more than 20, and 0 never answers.
    public var maximumAuthenticationRounds: Int {
        get { self[\.credentials.maximumRounds] }
        set { self[\.credentials.maximumRounds] = newValue }
    }
}

extension URLSessionConfiguration {
    /// Which redirects the session follows, and what goes along.
    public var redirectPolicy: RedirectPolicy {
        get { self[\.redirects] }
        set { self[\.redirects] = newValue }
    }
}
