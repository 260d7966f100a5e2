import AFBase
import AFState
import AFTransport
import AFWire

/// Makes the scopes of what a session learns from servers. Nothing else makes one.
struct SessionScopes {
    /// Who has a word about a server beside the rules.
    enum Word {
        /// No delegate.
        case none
        /// The session's delegate, or the one that this judge stands for.
        case delegate(TrustJudge?)
    }

    /// Tells the session apart from all other sessions of the process.
    private let number = UniqueNumber.next()
    private let overrides: HostOverrides
    private let addressFilter: AddressFilter?
    private let nameResolver: NameResolver?
    private let socketPath: String?

    init(_ settings: SessionSettings) {
        overrides = HostOverrides(settings.pool.hostOverrides)
        addressFilter = settings.pool.addressFilter
        nameResolver = settings.pool.nameResolver
        socketPath = settings.unixDomainSocketPath
    }

    /// The scope of a server.
    ///
    /// - Parameters:
    ///   - endpoint: The place of the server.
    ///   - rules: The rules the server is judged by; nil without TLS, and if no rules are known.
    ///   - word: Who may accept what the rules would not, or shows a certificate of the client.
    ///   - isProven: Whether the server's chain has passed the standard evaluation.
    func scope(of endpoint: Endpoint, under rules: SecurityContext?, word: Word, isProven: Bool) -> TrustScope {
        let judgement = endpoint.isSecured ? judgement(by: rules, word: word, isProven: isProven) : .clear
        return reached(endpoint, scope: judgement.through(socketPath))
    }

    private func judgement(by rules: SecurityContext?, word: Word, isProven: Bool) -> TrustScope {
        if case .none = word, let rules, rules.isNamed { return .rules(rules.fingerprint, isProven: isProven) }
        // A new context with the same rules: a delegate that decided in the former one may have accepted more.
        var reasons = (rules?.fingerprint ?? []) + Array("\(rules?.id ?? 0)".utf8)
        if case .delegate(let judge?) = word { reasons = judge.bytes + reasons }
        return .word(inSession: number, reasons: reasons)
    }

    /// The scope where connections are made to another endpoint, or not to every address.
    private func reached(_ endpoint: Endpoint, scope: TrustScope) -> TrustScope {
        var scope = scope
        if let places = overrides.places(of: endpoint) {
            scope = scope.redirected(to: places.map(\.text).joined(separator: ","))
        }
        if let nameResolver, endpoint.host.kind == .name {
            scope = scope.filtered(by: nameResolver.number, isLasting: false)
        }
        guard let filter = addressFilter else { return scope }
        return scope.filtered(by: filter.number, isLasting: filter.number == AddressFilter.numberOfPublicOnly)
    }

    /// The scope of a protocol class, which answers in place of servers.
    func scope(of type: AnyClass) -> TrustScope { .protocolClass(_mangledTypeName(type) ?? String(reflecting: type)) }
}
