extension HTTPRequestSerializer {
    /// The same as ``setAuthorizationHeaderFieldWithUsername(_:password:)``.
    public func setAuthorizationHeaderField(withUsername username: String, password: String) {
        setAuthorizationHeaderFieldWithUsername(username, password: password)
    }

    /// Sends a token with each request: `Token token="…"`, in an `Authorization` field.
    @available(*, deprecated, message: "Use setValue(_:forHTTPHeaderField:).")
    public func setAuthorizationHeaderFieldWithToken(_ token: String) {
        setValue("Token token=\"\(token)\"", forHTTPHeaderField: "Authorization")
    }
}
