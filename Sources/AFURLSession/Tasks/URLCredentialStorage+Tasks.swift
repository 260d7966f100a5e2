// The names of Foundation that have a task, which makes no difference.

extension URLCredentialStorage {
    /// The credentials for a space by user. The handler is called before this returns.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// As ``/AFURLTypes/URLCredentialStorage/defaultCredential(for:)``. The handler is called before this returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace,
        task: URLSessionTask,
        completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// As ``/AFURLTypes/URLCredentialStorage/set(_:for:)``.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// As ``/AFURLTypes/URLCredentialStorage/setDefaultCredential(_:for:)``.
    public func setDefaultCredential(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }

    /// As ``/AFURLTypes/URLCredentialStorage/remove(_:for:options:)``.
    public func remove(
        _ credential: URLCredential,
        for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }
}
