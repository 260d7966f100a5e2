package import AFWire

/// A request or response, as far as cookies are concerned: the server, and the document that it is loaded for.
///
/// Made from the requested URL, for each hop. A `Host` field that a caller has set does not count.
package struct CookieQuestion: Sendable {
    /// The main document, of which the loaded resource is a part.
    package enum MainDocument: Hashable, Sendable {
        /// The resource is its own main document.
        case itself
        case host(Endpoint.Host)
        /// A document without a host that is understood here, so that no host is of its site.
        case other
    }

    package let url: RequestURL
    package let mainDocument: MainDocument
    /// The policy of the session. The store has its own, and both must agree.
    package let policy: CookiePolicy

    package init(url: RequestURL, mainDocument: MainDocument = .itself, policy: CookiePolicy = .always) {
        self.url = url
        self.mainDocument = mainDocument
        self.policy = policy
    }

    package var host: String { url.endpoint.host.text }
    var hostIsName: Bool { url.endpoint.host.kind == .name }
    var isSecured: Bool { url.endpoint.isSecured }

    /// The path as it is sent, without the query.
    package var path: ArraySlice<UInt8> { url.target.prefix { $0 != UInt8(ascii: "?") } }

    /// Whether the main document belongs to another site.
    ///
    /// Without a main document no resource is of another site: a program that loads a resource itself has no document
    /// that could make it do so.
    func isCrossSite(_ suffixes: PublicSuffixes) -> Bool {
        switch mainDocument {
        case .itself: false
        case .other: true
        case .host(let document):
            document.kind != url.endpoint.host.kind
                || suffixes.site(of: document) != suffixes.site(of: url.endpoint.host)
        }
    }

    /// Whether cookies may be sent and stored at all: the only place where policies are applied.
    func isAllowed(by own: CookiePolicy, suffixes: PublicSuffixes) -> Bool {
        if own == .never || policy == .never { return false }
        guard own == .onlyFromMainDocumentDomain || policy == .onlyFromMainDocumentDomain else { return true }
        return !isCrossSite(suffixes)
    }
}

/// The sites whose cookies are stored and sent.
package enum CookiePolicy: Sendable {
    case always
    case never
    /// The site of the main document. A request without a main document is its own.
    case onlyFromMainDocumentDomain
}
