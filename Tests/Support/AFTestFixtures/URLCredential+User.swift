package import AFURLTypes

extension URLCredential {
    package static func user(
        _ user: String = "alice",
        _ password: String = "canary-word",
        _ persistence: Persistence = .forSession
    ) -> URLCredential {
        URLCredential(user: user, password: password, persistence: persistence)
    }
}
