import AFBase
package import AFNetworkingTesting
package import AFURLSession
package import Foundation

extension Stage {
    // MARK: - Servers

    /// A server of this playing, which answers `/again` with `again`.
    package func server(
        tls: ServerTLS? = nil,
        _ change: (TestServer) -> Void = { _ in }
    ) throws -> TestServer {
        try spare {
            let server = try TestServer(tls: tls)
            server.route("GET", "/again", .text("again"))
            change(server)
            state.withLock { $0.servers.append(server) }
            return server
        }
    }

    /// A server that speaks TLS, with a certificate of ``authority`` for this machine.
    package func securedServer(
        _ configure: (inout ServerTLS) throws -> Void = { _ in },
        _ change: (TestServer) -> Void = { _ in }
    ) throws -> TestServer {
        try spare {
            var tls = ServerTLS(try Certificates.shared.get().site)
            try configure(&tls)
            return try server(tls: tls, change)
        }
    }

    /// A proxy of this playing. What it hears counts for secrets as what a server hears.
    package func proxy(
        _ kind: TestProxy.Kind = .http,
        tls: ServerTLS? = nil,
        rules: ProxyRules = ProxyRules()
    ) throws -> TestProxy {
        try spare {
            let proxy = try TestProxy(kind, tls: tls, rules: rules)
            state.withLock { $0.servers.append(proxy.server) }
            return proxy
        }
    }

    /// Who has signed the certificates of servers and clients here. The same for all playings.
    package static var authority: CertificateAuthority {
        get throws { try Certificates.shared.get().authority }
    }

    /// A certificate that ``authority`` has issued for localhost. The same for all playings.
    package static var site: IssuedCertificate {
        get throws { try Certificates.shared.get().site }
    }

    /// Rules that trust ``authority`` and no other.
    package static var trust: TLSConfiguration {
        get throws {
            var tls = TLSConfiguration()
            tls.anchors = .certificates([try authority.certificate])
            return tls
        }
    }

    // MARK: - Sessions

    /// A session in a world of its own: a loop, a thread, connections that no other session uses.
    ///
    /// - Parameters:
    ///   - again: What it must be able to load at the end, after the fault: usually the `/again` of a server. Nil for a
    ///     session that is of no use then, or never was.
    ///   - delegate: Nil for one that keeps books about the order of events.
    ///   - queue: That of the delegate.
    package func session(
        again: URL?,
        delegate: (any URLSessionDelegate)? = nil,
        queue: OperationQueue? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let session = URLSession(
            configuration: configuration,
            delegate: delegate ?? eventBook(),
            delegateQueue: queue,
            world: world.world
        )
        adopt(session, again: again)
        return session
    }

    /// Takes care of a session that was made elsewhere, as by a manager: it is invalidated at the end.
    package func adopt(_ session: URLSession, again: URL?) {
        state.withLock { $0.players.append(Player(session: session, delegate: session.delegate, again: again)) }
    }

    /// A delegate that keeps books about the order of events.
    ///
    /// - Parameters:
    ///   - redirect: Where a redirect leads to; nil to follow it as it is.
    ///   - challenge: What is answered to a challenge; nil to leave it to the session.
    package func eventBook(
        redirect: (@Sendable (HTTPURLResponse, URLRequest) -> URLRequest?)? = nil,
        challenge: (@Sendable (URLAuthenticationChallenge) -> EventBook.Answer)? = nil
    ) -> any EventDelegate {
        let book: any EventDelegate =
            redirect == nil && challenge == nil
            ? SilentBook() : AnsweringBook(redirect: redirect, challenge: challenge)
        state.withLock { $0.books += [book.entries, book.progress] }
        return book
    }

    /// A delegate for bodies that go up and files that come down.
    package func transferBook(
        _ disposition: URLSession.ResponseDisposition = .allow,
        stream: (@Sendable () -> InputStream?)? = nil
    ) -> TransferBook {
        let book = TransferBook(disposition, stream: stream)
        state.withLock { $0.books += [book.entries, book.progress] }
        return book
    }

    /// Looks at the end what is in a book of the scenario's own.
    package func keep(_ book: any Book) {
        state.withLock { $0.books.append(book) }
    }

    /// Where all of this playing lives, for what is no session: to watch its network.
    package var machine: World { world.world }

    // MARK: - Secrets

    /// A word that only these servers may ever hear, and no error, description or file of the stage may tell.
    ///
    /// - Parameter isInURLs: It stands in paths as well, which errors do tell.
    package func secret(_ name: String, for servers: TestServer..., isInURLs: Bool = false) -> String {
        let text = "\(name)-\(String(seed, radix: 36))\(Secret.mark)"
        let secret = Secret(name: name, text: text, servers: servers, isInURLs: isInURLs)
        state.withLock { $0.secrets.append(secret) }
        return secret.text
    }

    // MARK: - Sparing

    /// Lets the test kit use what would fail otherwise: for certificates and servers that a scenario makes itself.
    package func spare<Result>(_ body: () throws -> Result) rethrows -> Result {
        try spare(sources[...], body)
    }

    private func spare<Result>(
        _ sources: ArraySlice<any FaultSource>,
        _ body: () throws -> Result
    ) rethrows -> Result {
        guard let first = sources.first else { return try body() }
        return try first.spare { try spare(sources.dropFirst(), body) }
    }
}

/// An authority and a certificate of its, made once in each process.
private struct Certificates {
    let authority: CertificateAuthority
    let site: IssuedCertificate

    static let shared = Result {
        let authority = try CertificateAuthority()
        return Certificates(authority: authority, site: try authority.issue(for: "localhost", "127.0.0.1", "::1"))
    }
}
