import AFBase
public import Foundation

// Everything is behind locks. An open class cannot have the compiler check that; a subclass that adds state keeps the
// promise itself.
/// Decides which servers a session talks to: by the authorities it trusts, and by
/// pins, which name the certificates or keys a server must have.
///
/// ```swift
/// let policy = try SecurityPolicy(pinningMode: .publicKey, certificatesAtPath: "/etc/my-app/api.pem")
/// configuration.tls.evaluator = policy
/// ```
///
/// The decision is taken inside the TLS handshake: to a server that is refused no byte
/// of a request is sent, and no certificate of ours.
///
/// | mode | pins | `allowInvalidCertificates` | a server must have |
/// |---|---|---|---|
/// | none | – | no | a valid chain |
/// | none | – | yes | nothing; with a name to validate it is always refused |
/// | publicKey, certificate | none at all | any | always refused |
/// | publicKey | some | no | a valid chain with a pinned key |
/// | publicKey | some | yes | **a pinned key, nothing else** |
/// | certificate | some | no | a valid chain that is also valid with the pins as its only authorities |
/// | certificate | some | yes | a chain that is valid with the pins as its only authorities |
///
/// A chain is valid if it leads to an authority, is within its dates, may serve TLS, and, as long as
/// ``validatesDomainName`` is true, names the host. Keys are compared as whole SubjectPublicKeyInfo structures and
/// looked for only among certificates that are proven: that a server sends a pinned certificate along means nothing.
///
/// Safe to use and to change from any thread. The policy tells each change to the sessions that use it: the change holds for
/// every request that has not begun, and connections that were made before it serve no further request. An operation keeps
/// the rules that it began with.
///
/// ## A policy of your own
///
/// Override ``evaluateServerTrust(_:forDomain:)``:
///
/// ```swift
/// class CompanyPolicy: SecurityPolicy, @unchecked Sendable {
///     override func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
///         guard super.evaluateServerTrust(serverTrust, forDomain: domain) else { return false }
///         return serverTrust.evaluation.chain.last?.pin == companyKey
///     }
/// }
/// ```
///
/// What an override decides by is not known. So what one object accepted serves no other object, nor the same one after a
/// change of its settings, and each connection gets a full handshake. A subclass with initializers of its own writes
/// `required init(from:)`, too. Managers with such a policy can be archived, but not read again.
open class SecurityPolicy: Codable, @unchecked Sendable {
    private struct State: Sendable {
        var rules = SecurityRules(mode: .none, pinned: PinnedCertificates(nil))
        /// Of these very rules.
        var frozen: FrozenSecurityPolicy?
        /// With these very rules. Weak: it holds the policy.
        weak var overridden: OverriddenSecurityPolicy?
        var observers: [WeakObserver] = []
    }

    private struct WeakObserver: Sendable {
        weak var object: (any ServerEvaluatorObserver)?
    }

    private let state = Lock(State())
    private let reporter = PinReporter()

    /// A policy that pins nothing and trusts what the session's authorities vouch for, for the name of the host.
    public init() {}

    convenience init(_ rules: SecurityRules) {
        self.init()
        change { $0 = rules }
    }

    /// A policy with these pins.
    ///
    /// - Parameters:
    ///   - pinningMode: What is compared.
    ///   - pinnedCertificates: Certificates in DER. With one that cannot be read the policy refuses every
    ///     server; `init(pinningMode:certificatesIn:)` and its like throw instead.
    public convenience init(pinningMode: SSLPinningMode, withPinnedCertificates pinnedCertificates: Set<Data>) {
        self.init(SecurityRules(mode: pinningMode, pinned: PinnedCertificates(pinnedCertificates)))
    }

    /// Reads a policy.
    ///
    /// What is not said is decided safely: invalid certificates are not allowed, and names are
    /// validated. A mode that does not exist, a certificate that cannot be read and a name that
    /// means nothing are errors.
    public required convenience init(from decoder: any Decoder) throws {
        self.init(try SecurityRules(from: decoder))
    }

    /// A policy that pins these certificates.
    public convenience init(pinningMode: SSLPinningMode, certificates: [Certificate]) {
        self.init(pinningMode: pinningMode, withPinnedCertificates: Set(certificates.map { Data($0.derBytes) }))
    }

    /// A new policy like `init()`.
    public static func `default`() -> SecurityPolicy { SecurityPolicy() }

    /// A new policy like `init()`.
    public static func defaultPolicy() -> SecurityPolicy { SecurityPolicy() }

    // MARK: - Settings

    /// What is compared. Chosen when the policy is made.
    public var sslPinningMode: SSLPinningMode { rules.mode }

    /// The pinned certificates, in DER; nil if none were ever set.
    ///
    /// If one of them cannot be read, the policy refuses every server, and says which it is.
    /// A pin may be the server's own certificate, one in between, or the root.
    public var pinnedCertificates: Set<Data>? {
        get { rules.pinned.blobs }
        set {
            // Read before the lock is taken: others need not wait for that.
            let pinned = PinnedCertificates(newValue)
            change { $0.pinned = pinned }
        }
    }

    /// Whether a server may be trusted although its chain is not valid. False.
    ///
    /// - Warning: Together with ``SSLPinningMode/publicKey`` this leaves **one** condition: that some pinned key occurs
    ///   in the proven part of the chain. Who issued the certificate, whether it has **expired**, and for which
    ///   **host** it is are all **not looked at**. An attacker with the private key of any pinned certificate – of
    ///   another server of yours, of a retired one, of an authority that you pinned – can pose as any host of the
    ///   session, forever. For servers with certificates of your own making, set
    ///   ``/AFTransport/TLSConfiguration/anchors`` to your authority instead, or set this switch together with
    ///   ``SSLPinningMode/certificate``, which goes on checking dates and names.
    ///
    /// Without pins it turns authentication off: an attacker on the network can read and change everything. A signature
    /// that does not fit is never forgiven where pins decide.
    public var allowInvalidCertificates: Bool {
        get { rules.allowsInvalidCertificates }
        set { change { $0.allowsInvalidCertificates = newValue } }
    }

    /// Whether a certificate must be for the host. True.
    ///
    /// - Warning: When false, an attacker with a valid certificate for any host at all can pose as yours. It also drops
    ///   the check that a certificate may serve TLS.
    public var validatesDomainName: Bool {
        get { rules.validatesName }
        set { change { $0.validatesName = newValue } }
    }

    // MARK: - Rules for hosts

    /// What some hosts must show. Empty.
    ///
    /// Of the rules that match a host the most specific one counts alone: `api.example.com` goes before
    /// `*.example.com`, that before `**.example.com`, and that before `**.com`. It replaces the pins of the policy
    /// itself for that host, and neither ``allowInvalidCertificates`` nor ``validatesDomainName`` has any effect on it:
    /// its chain must be valid and must name it. With two rules for the very same hosts, those hosts are refused.
    ///
    /// A rule for an IPv4 address is also for the IPv6 address that means the same host, `[::ffff:192.0.2.1]`. Its pins
    /// hold for `[64:ff9b::192.0.2.1]` too, by which a NAT64 translator leads there, unless that has a rule of its own.
    public var hostRules: [HostRule] {
        get { rules.hostRules }
        set { change { $0.hostRules = newValue } }
    }

    /// Whether a host without a rule is refused, whatever it shows. False.
    public var refusesHostsWithoutRule: Bool {
        get { rules.refusesHostsWithoutRule }
        set { change { $0.refusesHostsWithoutRule = newValue } }
    }

    /// The rule that counts for a host; nil if there is none, or if there are two for the very same hosts.
    public func rule(for host: String) -> HostRule? {
        if case .rule(let rule) = frozen.hosts.match(host) { return rule }
        return nil
    }

    /// Whether there are hosts that it pins. Sessions then refuse to talk to those without TLS.
    public var isPinning: Bool { frozen.isPinning }

    /// Hears of each handshake in which a host with a rule has a valid chain without a pinned member, refused or not.
    ///
    /// Called one at a time on a queue of its own, never on the network thread. While 100
    /// reports wait for it, further ones are dropped. Not kept by coding.
    public var reportHandler: (@Sendable (PinningReport) -> Void)? {
        get { reporter.handler }
        set { reporter.handler = newValue }
    }

    /// For a program that is about to end: returns when the report handler has had the reports there are.
    package func drainReports() async {
        await reporter.drain()
    }

    var rules: SecurityRules { state.withLock { $0.rules } }

    func change(_ body: (inout SecurityRules) -> Void) {
        let observers = state.withLock { state in
            body(&state.rules)
            state.frozen = nil
            state.overridden = nil
            return state.observers
        }
        for observer in observers { observer.object?.evaluatorDidChange() }
    }

    /// Tells the observer of each change from now on, before the setter returns. Holds it weakly.
    public func add(_ observer: any ServerEvaluatorObserver) {
        // Release the others after the lock: a deinit may run the program's code.
        _ = state.withLock { state in
            let others = state.observers.compactMap(\.object).filter { $0 !== observer }
            state.observers = (others + [observer]).map { WeakObserver(object: $0) }
            return others
        }
    }

    // MARK: - Evaluating

    /// Whether the server is trusted for this name: the method to override.
    ///
    /// An override is called inside the handshake, on a thread of its own, and the handshake waits for it as long as for
    /// a delegate (``/AFTransport/TLSConfiguration/decisionTimeout``). Then the server is refused.
    ///
    /// - Parameters:
    ///   - serverTrust: What the server showed.
    ///   - domain: The host it must be for. Nil checks no name, unless the host of the URL has a rule.
    open func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        (OverriddenSecurityPolicy.settings(of: self) ?? frozen).decide(serverTrust, domain: domain) == .accept
    }

    /// ``evaluateServerTrust(_:forDomain:)`` by its shorter name.
    public func evaluate(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        evaluateServerTrust(serverTrust, forDomain: domain)
    }

    /// ``evaluateServerTrust(_:forDomain:)``, with the reason of a refusal.
    package func decide(_ serverTrust: ServerTrust, domain: String?) -> ServerTrustDecision {
        guard mayHaveOverrides else { return frozen.decide(serverTrust, domain: domain) }
        return evaluateServerTrust(serverTrust, forDomain: domain)
            ? .accept : OverriddenSecurityPolicy.refusal(by: self)
    }

    /// Whether a subclass may have methods in the place of those here.
    package var mayHaveOverrides: Bool { type(of: self) != SecurityPolicy.self }

    package var frozen: FrozenSecurityPolicy {
        state.withLock { state in
            if let frozen = state.frozen { return frozen }
            let frozen = FrozenSecurityPolicy(rules: state.rules, reporter: reporter)
            state.frozen = frozen
            return frozen
        }
    }

    /// The same object as long as a session has it and no setting is changed.
    private var overridden: OverriddenSecurityPolicy {
        let settings = frozen
        return state.withLock { state in
            if let overridden = state.overridden { return overridden }
            let overridden = OverriddenSecurityPolicy(policy: self, settings: settings)
            // Changed in between: it is for this call only.
            if state.frozen === settings { state.overridden = overridden }
            return overridden
        }
    }

    // MARK: - Copying

    /// Another policy with the same settings.
    ///
    /// A subclass that does not override this is its own copy: what its decisions depend on is its own.
    open func copy() -> SecurityPolicy {
        if mayHaveOverrides { return self }
        let copy = SecurityPolicy(rules)
        copy.reportHandler = reportHandler
        return copy
    }
}

extension SecurityPolicy: ServerEvaluator {
    /// The policy as it is now. The same object until it is changed.
    public func snapshot() -> any ServerEvaluator { mayHaveOverrides ? overridden : frozen }

    /// A digest of all settings; nil for a subclass.
    public var fingerprint: [UInt8]? { mayHaveOverrides ? nil : frozen.fingerprint }

    /// The decision about a server, for the host of the URL.
    public func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { snapshot().evaluate(trust) }

    /// Whether it pins this host: without TLS no pin is ever looked at.
    public func forbidsPlainText(to host: String) -> Bool { frozen.forbidsPlainText(to: host) }
}
