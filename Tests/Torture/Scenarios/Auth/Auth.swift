import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Servers that ask for credentials.
    static let auth: [Scenario] = [
        Scenario(.auth, "basic") { stage in
            try await login(stage, "basic-auth") { _, _ in }
        },
        Scenario(.auth, "digest") { stage in
            try await login(stage, "digest-auth/auth", suffix: "/SHA-256") { _, _ in }
        },
        // Each nonce is good once: every request but the first is told that its nonce is stale.
        Scenario(.auth, "digest-stale") { stage in
            try await login(stage, "digest-auth/auth", suffix: "/MD5/1") { _, _ in }
        },
        Scenario(.auth, "stored") { stage in
            try await login(stage, "basic-auth", asksDelegate: false) { configuration, login in
                let storage = URLCredentialStorage()
                let space = URLProtectionSpace(
                    host: "127.0.0.1",
                    port: login.port,
                    protocol: "http",
                    realm: "Fake Realm",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic
                )
                storage.setDefaultCredential(login.credential, for: space)
                configuration.urlCredentialStorage = storage
            }
        },
        Scenario(.auth, "netrc") { stage in
            try await login(stage, "basic-auth", asksDelegate: false) { configuration, login in
                configuration.netrc = try NetrcFile(text: "machine 127.0.0.1 login me password \(login.password)")
            }
        },
        Scenario(.auth, "upload") { stage in
            let server = try stage.server()
            let secret = stage.secret("password", for: server, isInURLs: true)
            server.install(.digestAuthentication)
            let session = try session(stage, server, secret)
            var request = URLRequest(url: server.url("/digest-auth/auth/me/\(secret)/SHA-256"))
            request.httpMethod = "POST"
            request.httpBody = Data(repeating: 0x62, count: 2000)
            await stage.load(request, in: session, orRefusal: 401)
        },
        Scenario(.auth, "wrong-password") { stage in
            let server = try stage.server { $0.install(.basicAuthentication) }
            let secret = stage.secret("password", for: server, isInURLs: true)
            let session = try session(stage, server, secret)
            await stage.load(server.url("/basic-auth/me/another"), in: session, status: 401)
        },
        // Who was told a password asks for it no more; another server never hears it.
        Scenario(.auth, "two-servers") { stage in
            let server = try stage.server { $0.install(.basicAuthentication) }
            let other = try stage.server { $0.route("GET", "/open", .text("open")) }
            let secret = stage.secret("password", for: server, isInURLs: true)
            let session = try session(stage, server, secret)
            for _ in 1...2 {
                await stage.load(server.url("/basic-auth/me/\(secret)"), in: session)
                await stage.load(other.url("/open"), in: session, expecting: "open")
            }
        },
    ]

    private struct Login {
        let password: String
        let port: Int
        var credential: URLCredential { URLCredential(user: "me", password: password, persistence: .forSession) }
    }

    private static func login(
        _ stage: Stage,
        _ path: String,
        suffix: String = "",
        asksDelegate: Bool = true,
        _ configure: (URLSessionConfiguration, Login) throws -> Void
    ) async throws {
        let server = try stage.server { $0.install(.authentication) }
        // The path of these routes has the password in it, so that this server always knows it.
        let secret = stage.secret("password", for: server, isInURLs: true)
        let session = try session(stage, server, secret, asksDelegate: asksDelegate, configure)
        let url = server.url("/\(path)/me/\(secret)\(suffix)")
        for _ in 1...2 { await stage.load(url, in: session, orRefusal: 401) }
    }

    private static func session(
        _ stage: Stage,
        _ server: TestServer,
        _ password: String,
        asksDelegate: Bool = true,
        _ configure: (URLSessionConfiguration, Login) throws -> Void = { _, _ in }
    ) throws -> URLSession {
        let login = Login(password: password, port: Int(server.port))
        let book = stage.eventBook(challenge: { challenge in
            guard asksDelegate, challenge.previousFailureCount == 0 else { return (.performDefaultHandling, nil) }
            return (.useCredential, login.credential)
        })
        var mistake: (any Error)?
        let session = stage.session(again: server.url("/again"), delegate: book) { configuration in
            do { try configure(configuration, login) } catch { mistake = error }
        }
        if let mistake { throw mistake }
        return session
    }
}
