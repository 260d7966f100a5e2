import AFWire

extension URLRequest {
    /// The host of the request, as the session reads it; nil if the session cannot load the URL.
    ///
    /// `URL.host` may see another host in a URL that is made to be misread: use this one in decisions about trust.
    public var host: String? {
        guard let text = url?.absoluteString, let url = try? RequestURL(text) else { return nil }
        return url.endpoint.host.text
    }
}
