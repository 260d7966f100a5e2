extension URLSessionConfiguration {
    /// Where credentials are looked up when a server or proxy asks for them, and where those go that a delegate gave
    /// and that worked. ``URLCredentialStorage/shared``, or for ``ephemeral`` one of its own; nil for neither.
    public var urlCredentialStorage: URLCredentialStorage? {
        get { self[\.credentials.storage] }
        set { self[\.credentials.storage] = newValue }
    }

    // MARK: - Settings of our own

    /// Credentials for hosts that ask, where the URL and the storage have none. Nil: a session opens no such file by
    /// itself, whatever the environment says.
    public var netrc: NetrcFile? {
        get { self[\.credentials.netrc] }
        set { self[\.credentials.netrc] = newValue }
    }

    /// Whether passwords and tokens are sent without TLS wherever a server offers nothing better than Basic or Bearer.
    /// False: they are only where you said so for that very place, by the answer of a delegate or by a credential that
    /// is stored for this method of this `http` space, and to this machine itself. Digest does not send the password.
    ///
    /// Whoever can change what a server says without TLS can have it ask for the password in the clear.
    public var sendsPasswordsInClear: Bool {
        get { self[\.credentials.sendsPasswordsInClear] }
        set { self[\.credentials.sendsPasswordsInClear] = newValue }
    }

    /// How often a request is repeated because a server asks for credentials, and as often again for a proxy. Then the
    /// response that asks is delivered. 3; never more than 20, and 0 never answers.
    public var maximumAuthenticationRounds: Int {
        get { self[\.credentials.maximumRounds] }
        set { self[\.credentials.maximumRounds] = newValue }
    }
}
