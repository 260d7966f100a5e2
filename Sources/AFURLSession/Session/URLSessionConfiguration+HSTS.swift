public import AFState

extension URLSessionConfiguration {
    /// The hosts that the session connects to over TLS only. Nil, the default: it neither asks nor learns.
    public var strictTransportSecurity: HSTSStore? {
        get { self[\.transportSecurity] }
        set { self[\.transportSecurity] = newValue }
    }
}
