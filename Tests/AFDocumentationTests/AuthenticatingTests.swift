import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private let password = "secret"
private let host = "127.0.0.1"

/// The snippets of the article about authenticating.
@Suite struct AuthenticatingTests {
    @Test func `credentials are stored for a place`() throws {
        let configuration = URLSessionConfiguration.ephemeral
        let token = "t-1"

        let space = URLProtectionSpace(
            host: "api.example.com",
            port: 443,
            protocol: NSURLProtectionSpaceHTTPS,
            realm: "files",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "anna", password: password, persistence: .forSession)
        configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)

        let place = URLProtectionSpace(
            host: "api.example.com",
            port: 443,
            protocol: NSURLProtectionSpaceHTTPS,
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBearer
        )
        configuration.urlCredentialStorage?.set(URLCredential(bearerToken: token), for: place)

        #expect(configuration.urlCredentialStorage?.defaultCredential(for: space)?.user == "anna")
        #expect(configuration.urlCredentialStorage?.credentials(for: place)?.count == 1)
    }

    @Test(arguments: ["/basic-auth/anna/secret", "/digest-auth/auth/anna/secret"])
    func `a delegate answers challenges`(path: String) async throws {
        let site = try Site()
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: Login(), delegateQueue: nil))

        let (_, response) = try await session.data(from: site.url(path))

        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(site.server.requests.count == 2)
    }

    @Test func `a wrong password is told once, and then given up`() async throws {
        let site = try Site()
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: Login(), delegateQueue: nil))

        let error = await #expect(throws: URLError.self) {
            _ = try await session.data(from: site.url("/basic-auth/anna/other"))
        }

        #expect(error?.code == .cancelled && site.server.requests.count == 2)
    }

    @Test func `the delegate gives its password to no other host and to no proxy`() async throws {
        let (site, proxy) = (try Site(), try TestProxy())
        proxy.rules.authentication = .password(user: "anna", password: password)
        let proxied = URLSessionConfiguration.ephemeral
        var proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        proxies.includesLoopback = true
        proxied.proxies = proxies
        let path = "/basic-auth/anna/secret"
        let elsewhere = site.server.url(path, host: "localhost")

        for (configuration, url, status) in [(.ephemeral, elsewhere, 401), (proxied, site.url(path), 407)] {
            let session = site.owned(URLSession(configuration: configuration, delegate: Login(), delegateQueue: nil))
            let (_, response) = try await session.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == status)
        }
        #expect(site.server.requests.count == 1 && proxy.requests.count == 1)
    }

    @Test func `tokens are renewed, and put on requests by hand`() async throws {
        let site = try Site()
        site.server.route("GET", "/") { $0.headers["Authorization"] == "Bearer new" ? .text("in") : .status(401) }
        let (configuration, api, url) = (site.configuration, site.url("/"), site.url("/"))
        @Sendable func newToken(inPlaceOf old: String?) async throws -> String { "new" }

        do {
            let token = "old"
            let tokens = try TokenInterceptor(for: [api], token: token) { old in
                try await newToken(inPlaceOf: old)
            }
            configuration.requestInterceptors = [tokens]
        }
        let session = site.owned(URLSession(configuration: configuration))
        let (data, _) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "in")

        let token = "new"
        var request = URLRequest(url: url)
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (again, _) = try await site.session.data(for: request)
        #expect(String(decoding: again, as: UTF8.self) == "in")
    }

    @Test func `a manager sends a password unasked`() async throws {
        let site = try Site()
        site.server.route("GET", "/me") { .json(#"{"field": "\#($0.headers["Authorization"] ?? "")"}"#) }
        let manager = site.manager

        manager.requestSerializer.setAuthorizationHeaderFieldWithUsername("anna", password: password)

        let field = try await manager.get("me", decode: [String: String].self)
        #expect(field["field"] == "Basic YW5uYTpzZWNyZXQ=")
    }

    @Test func `the password of a URL answers its server, and shows nowhere else`() async throws {
        let (site, other) = (try Site(), try Site())
        let session = site.session
        let proof = "Basic YW5uYTpzIGNyZXQ="
        site.server.route("GET", "/private") { request in
            guard request.headers["Authorization"] != proof else { return .text("in") }
            return ServerReply.status(401).header("WWW-Authenticate", #"Basic realm="files""#)
        }
        other.server.route("GET", "/seen") { .text($0.headers["Authorization"] ?? "none") }
        site.server.route(
            "GET",
            "/moved",
            ServerReply.status(302).header("Location", other.url("/seen").absoluteString)
        )
        func url(_ path: String) throws -> URL {
            try #require(URL(string: "http://anna:s%20cret@\(host):\(site.server.port)\(path)"))
        }

        let (_, response) = try await session.data(from: url("/private"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(site.server.requests.map { $0.headers["Authorization"] } == [nil, proof])
        let (seen, _) = try await session.data(from: url("/moved"))
        #expect(String(decoding: seen, as: UTF8.self) == "none")

        let task = try session.dataTask(with: url("/"))
        #expect(!task.curlCommand().contains("cret"))
        task.cancel()
        let hidden = try #require(URL(string: "http://good.test%2F:x@\(host):\(site.server.port)/"))
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: hidden) }
        #expect(error?.errorCode == -1000 && error?.loadFailure?.message.contains("good.test") == false)
        #expect(site.server.requests.count == 3)
    }

    @Test func `a password of a URL is percent-encoded`() {
        let url = URL(string: "https://anna:s%20cret@api.example.com/files")!

        #expect(url.user() == "anna" && url.password() == "s%20cret")
    }

    @Test func `an identity is read and bound to its hosts`() throws {
        let folder = try ScratchFolder()
        let me = try CertificateAuthority().issueClient("me")
        let certificate = try folder.write("me.pem", Data(me.pem.utf8)).path
        let key = try folder.write("me.key", Data(me.privateKeyPEM.utf8)).path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        let configuration = URLSessionConfiguration.ephemeral

        var identity = try ClientIdentity(certificatePath: certificate, keyPath: key)
        identity.hosts = ["*.internal.example.com"]
        configuration.tls.identity = identity

        #expect(configuration.tls.identity?.certificates.count == 1)
    }

    @Test func `a file of passwords is read`() throws {
        let folder = try ScratchFolder()
        let file = try folder.write("netrc", Data("machine api.example.com login anna password secret\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let configuration = URLSessionConfiguration.ephemeral

        configuration.netrc = try NetrcFile(contentsOf: file)

        #expect(configuration.netrc?.description == "NetrcFile(1 entries)")
    }
}

final class Login: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        let methods = [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest]
        guard space.host == host, !space.isProxy(), methods.contains(space.authenticationMethod) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        guard challenge.previousFailureCount == 0 else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(user: "anna", password: password, persistence: .forSession))
    }
}
