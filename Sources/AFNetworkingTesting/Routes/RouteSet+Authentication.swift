extension RouteSet {
    /// Basic, Digest and Bearer together.
    public static var authentication: RouteSet {
        RouteSet(.basicAuthentication, .digestAuthentication, .bearerAuthentication)
    }

    /// Basic authentication (RFC 7617).
    ///
    /// | route, every method | answer |
    /// |---|---|
    /// | `/basic-auth/USER/PASSWORD` | 200 with JSON, or 401 with a challenge |
    /// | `/hidden-basic-auth/USER/PASSWORD` | 200 with JSON, or 404 |
    ///
    /// `realm=` names another realm.
    public static var basicAuthentication: RouteSet {
        RouteSet { server in
            server.route("*", "/basic-auth/:user/:password") { request in
                let realm = DigestRules.quoted(request.argument("realm") ?? "Fake Realm")
                return answer(to: request, else: .status(401).header("WWW-Authenticate", "Basic realm=\(realm)"))
            }
            server.route("*", "/hidden-basic-auth/:user/:password") { answer(to: $0, else: .status(404)) }
        }
    }

    private static func answer(to request: RecordedRequest, else refusal: ServerReply) -> ServerReply {
        let (user, password) = (request.parameters["user"] ?? "", request.parameters["password"] ?? "")
        guard BasicCheck.isRight(request.headers["Authorization"], user: user, password: password) else {
            return refusal
        }
        return .json(.object([("authenticated", .bool(true)), ("user", .string(user))]))
    }

    /// Tokens (RFC 6750).
    ///
    /// | route, every method | answer |
    /// |---|---|
    /// | `/bearer` | 200 with JSON of the token, or 401 with a challenge if there is none |
    /// | `/bearer/TOKEN` | the same, but only for that token |
    public static var bearerAuthentication: RouteSet {
        RouteSet { server in
            for pattern in ["/bearer", "/bearer/:token"] {
                server.route("*", pattern) { request in
                    let given = BasicCheck.token(in: request.headers["Authorization"], scheme: "Bearer")
                    guard let given, !given.isEmpty else {
                        return .status(401).header("WWW-Authenticate", "Bearer realm=\"test\"")
                    }
                    guard request.parameters["token"].map({ $0 == given }) ?? true else {
                        let challenge = "Bearer realm=\"test\", error=\"invalid_token\""
                        return .status(401).header("WWW-Authenticate", challenge)
                    }
                    return .json(.object([("authenticated", .bool(true)), ("token", .string(given))]))
                }
            }
        }
    }

    /// Digest authentication (RFC 7616).
    ///
    /// `/digest-auth/QOP/USER/PASSWORD[/ALGORITHM[/USES]]`, every method:
    ///
    /// - QOP is `auth`, `auth-int`, both separated by a comma, or `none` for RFC 2069;
    /// - ALGORITHM is a name as in `DigestRules.Algorithm`, by default MD5; several, separated by commas, make several
    ///   challenges, in this order;
    /// - USES is how often a client may use a nonce before it is stale; `never` for no limit.
    ///
    /// `realm=` names another realm. With `next=1` every 200 has the nonce for the next request. Each 200 has
    /// `Authentication-Info`. The body of a 401 says what is wrong: a count that was used before, a `uri` that is not
    /// the target, a wrong response.
    public static var digestAuthentication: RouteSet {
        RouteSet { server in
            let nonces = NonceStore()
            let path = "/digest-auth/:qop/:user/:password"
            for pattern in [path, path + "/:algorithm", path + "/:algorithm/:uses"] {
                server.route("*", pattern) { request in
                    guard let rules = digestRules(of: request) else {
                        return .misuse("/digest-auth/QOP/USER/PASSWORD[/ALGORITHM[/USES]]")
                    }
                    return answer(to: request, rules: rules, nonces: nonces)
                }
            }
        }
    }

    private static func answer(to request: RecordedRequest, rules: [DigestRules], nonces: NonceStore) -> ServerReply {
        let user = rules.first?.user ?? ""
        let good = JSONDocument.object([("authenticated", .bool(true)), ("user", .string(user))]).text + "\n"
        var refusal = (reason: "", isStale: false)
        for rule in rules {
            let check = DigestCheck(
                rules: rule,
                nonces: nonces,
                method: request.method,
                target: request.target,
                body: Array(request.body)
            )
            switch check.verdict(on: request.headers["Authorization"], answer: Array(good.utf8)) {
            case .accepted(let proof): return .json(good).header("Authentication-Info", proof)
            case .refused("the algorithm is another", _) where rules.count > 1: continue
            case .refused(let reason, let isStale): refusal = (reason, isStale)
            }
        }
        return rules.reduce(ServerReply.text(refusal.reason + "\n").status(401)) { reply, rule in
            let challenge = rule.challenge(nonce: nonces.make(), isStale: refusal.isStale)
            return reply.header("WWW-Authenticate", challenge)
        }
    }

    private static func digestRules(of request: RecordedRequest) -> [DigestRules]? {
        let parameters = request.parameters
        var rules = DigestRules(user: parameters["user"] ?? "", password: parameters["password"] ?? "")
        rules.realm = request.argument("realm") ?? rules.realm
        rules.givesNextNonce = request.argument("next") == "1"
        if parameters["qop"] == "none" {
            rules.qualities = []
        } else {
            let names = (parameters["qop"] ?? "").split(separator: ",").map(String.init)
            rules.qualities = names.compactMap(DigestRules.Quality.init)
            guard !names.isEmpty, rules.qualities.count == names.count else { return nil }
        }
        if let uses = parameters["uses"], uses != "never" {
            guard let count = DecimalText.count(uses) else { return nil }
            rules.usesPerNonce = count
        }
        let names = (parameters["algorithm"] ?? "MD5").split(separator: ",").map(String.init)
        let algorithms = names.compactMap(DigestRules.Algorithm.init(named:))
        guard !names.isEmpty, algorithms.count == names.count else { return nil }
        return algorithms.map { algorithm in
            var rules = rules
            rules.algorithm = algorithm
            return rules
        }
    }
}
