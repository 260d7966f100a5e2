extension URLSessionConfiguration {
    /// The storage in which the session looks up credentials when a server or proxy asks for them, and stores those
    /// that a delegate gave and the server accepted. ``URLCredentialStorage/shared``, or for ``ephemeral`` one of its
    /// own; nil for neither.
    public var urlCredentialStorage: URLCredentialStorage? {
        get { self[\.credentials.storage] }
        set { self[\.credentials.storage] = newValue }
    }

    // MARK: - Settings that Foundation does not have

    /// Credentials for hosts that ask, where the URL and the storage have none. Nil by default: a session opens no such
    /// file by itself, whatever the environment says.
    public var netrc: NetrcFile? {
        get { self[\.credentials.netrc] }
        set { self[\.credentials.netrc] = newValue }
    }

    /// Whether the session sends passwords and tokens without TLS wherever a server offers nothing better than Basic or
    /// Bearer. False by default: it sends them only where you allowed it for that very place (by the answer of a
    /// delegate, or by a credential that is stored for this method of this `http` space), and to this machine itself.
    /// Digest does not send the password.
    ///
    /// An attacker who can change a server's responses without TLS can make it ask for the password in plain text.
    public var sendsPasswordsInClear: Bool {
        get { self[\.credentials.sendsPasswordsInClear] }
        set { self[\.credentials.sendsPasswordsInClear] = newValue }
    }

    /// How often the session repeats a request because a server asks for credentials, and as often again for a proxy.
    /// After that it delivers the response that asks. 3 by default; never more than 20, and 0 never answers.
    public var maximumAuthenticationRounds: Int {
        get { self[\.credentials.maximumRounds] }
        set { self[\.credentials.maximumRounds] = newValue }
    }
}
