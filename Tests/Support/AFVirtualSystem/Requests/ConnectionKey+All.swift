package import AFLoop
package import AFTransport
package import AFWire

extension ConnectionKey {
    /// All of it at once.
    package init(
        endpoint: Endpoint,
        unixPath: String?,
        security: SecurityContext?,
        route: ProxyRoute? = nil,
        proxySecurity: SecurityContext? = nil,
        link: LinkTerms = LinkTerms(),
        judge: TrustJudge? = nil
    ) {
        self.init(
            endpoint: endpoint,
            security: security,
            options: Options(unixPath: unixPath, route: route, proxySecurity: proxySecurity, link: link, judge: judge)
        )
    }
}
