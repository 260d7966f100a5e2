import AFWire

extension URLRequest {
    /// The host that the request is for, as the loading system reads it; nil if its URL cannot be loaded.
    ///
    /// `URL.host` may see another one in URLs that are made to be misread: what decides about trust asks here.
    public var host: String? {
        guard let text = url?.absoluteString, let url = try? RequestURL(text) else { return nil }
        return url.endpoint.host.text
    }
}
