import AFWire

/// A request or response, as far as cookies are concerned: who the peer is, and for whom we ask.
///
/// Made from the URL that is asked for, hop by hop. A `Host` field that a caller has set does not come into it.
struct CookieQuestion: Sendable {
    /// The document of which what is loaded is a part (``URLRequest/mainDocumentURL``).
    enum MainDocument: Hashable, Sendable {
        /// What is loaded stands for itself.
        case itself
        case host(Endpoint.Host)
        /// One without a host that we understand, which therefore is nobody's site.
        case other
    }

    let url: RequestURL
    var mainDocument = MainDocument.itself
    /// That of the session; the store has one of its own, and both must agree.
    var policy = HTTPCookie.AcceptPolicy.always

    var host: String { url.endpoint.host.text }
    var hostIsName: Bool { url.endpoint.host.kind == .name }
    var isSecured: Bool { url.endpoint.scheme == .https }

    /// The path as it is sent, without the query.
    var path: ArraySlice<UInt8> { url.target.prefix { $0 != UInt8(ascii: "?") } }

    /// Whether the main document belongs to somebody else.
    ///
    /// Without a main document nothing is of another site: a program that loads something has nobody in whose name it
    /// could be made to do it.
    func isCrossSite(_ suffixes: PublicSuffixes) -> Bool {
        switch mainDocument {
        case .itself: false
        case .other: true
        case .host(let document):
            document.kind != url.endpoint.host.kind
                || suffixes.site(of: document) != suffixes.site(of: url.endpoint.host)
        }
    }

    /// Whether cookies may go in either direction at all: the one place where policies are decided.
    func isAllowed(by own: HTTPCookie.AcceptPolicy, _ suffixes: PublicSuffixes) -> Bool {
        if own == .never || policy == .never { return false }
        guard own == .onlyFromMainDocumentDomain || policy == .onlyFromMainDocumentDomain else { return true }
        return !isCrossSite(suffixes)
    }
}
