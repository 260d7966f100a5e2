import AFBase
package import AFRequest
package import AFWire

extension WireRequest {
    /// The field `Host` in lower case, if it names another host than the URL: nil for nearly all requests.
    ///
    /// Cookies, TLS, redirects and stored credentials go by the URL. A response to such a request may answer only
    /// requests that name the same host.
    package var namedHost: [UInt8]? {
        let name = head.host.map(ASCII.folded)
        return name.elementsEqual(endpoint.hostField.utf8) ? nil : name
    }
}

extension URLRequest {
    /// The same with the `Host` that a session gives to requests without one.
    package func naming(hostOf defaults: HeaderDefaults) -> URLRequest {
        guard let host = defaults.hostField, value(forHTTPHeaderField: "Host") == nil else { return self }
        var request = self
        request.setValue(String(decoding: host, as: UTF8.self), forHTTPHeaderField: "Host")
        return request
    }
}

extension URLRequest {
    /// The host of the request, as the session reads it; nil if the session cannot load the URL.
    ///
    /// `URL.host` may see another host in a URL that is made to be misread: use this one in decisions about trust.
    public var host: String? {
        target?.endpoint.host.text
    }
}
