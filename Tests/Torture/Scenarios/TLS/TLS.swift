import AFNetworking
import AFNetworkingTesting
import AFTLS
import AFTorture
import Foundation

extension Scenario {
    /// Handshakes that succeed, and those that must not, whatever fails meanwhile.
    static let tls = tlsAccepted + tlsIdentities + tlsRefused

    /// A server that says hello, and one that says it and closes.
    private static func greeting(_ server: TestServer) {
        server.route("GET", "/hello", .text("hello"))
        server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
    }

    private static func load(
        _ stage: Stage,
        _ count: Int,
        _ path: String,
        host: String? = nil,
        _ configure: (inout TLSConfiguration) throws -> Void = { _ in }
    ) async throws {
        let server = try stage.securedServer({ _ in }, greeting)
        var tls = try Stage.trust
        try configure(&tls)
        let session = stage.session(again: server.url("/again", host: host)) { [tls] in $0.tls = tls }
        for _ in 1...count {
            await stage.load(server.url(path, host: host), in: session, expecting: String(path.dropFirst()))
        }
    }

    private static let tlsAccepted: [Scenario] = [
        Scenario(.tls, "tls13") { stage in
            try await load(stage, 2, "/hello") { $0.minimumVersion = .v1_3 }
        },
        Scenario(.tls, "tls12") { stage in
            try await load(stage, 2, "/hello") { $0.maximumVersion = .v1_2 }
        },
        Scenario(.tls, "resumed") { stage in try await load(stage, 3, "/bye") },
        Scenario(.tls, "resumed-tls12") { stage in
            try await load(stage, 2, "/bye") { $0.maximumVersion = .v1_2 }
        },
        Scenario(.tls, "by-name") { stage in try await load(stage, 1, "/hello", host: "localhost") },
        Scenario(.tls, "pinned") { stage in
            let policy = try pinning(stage)
            try await load(stage, 2, "/bye") { $0.evaluator = policy }
        },
        Scenario(.tls, "anchors-from-a-folder") { stage in
            let authority = try Stage.authority
            let folder = stage.folder.appending(path: "anchors")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let pem = stage.spare { authority.pem }
            try Data(pem.utf8).write(to: folder.appending(path: "authority.pem"))
            try Data("no certificate".utf8).write(to: folder.appending(path: "README"))
            let anchors = await stage.step("reading the anchors") {
                try Certificate.certificates(inFolder: folder.path)
            }
            guard let anchors else { return }
            try await load(stage, 1, "/hello") { $0.anchors = .certificates(anchors) }
        },
        Scenario(.tls, "delegate-decides") { stage in
            let server = try stage.securedServer({ _ in }, greeting)
            let tls = try Stage.trust
            let book = stage.eventBook(challenge: { challenge in
                guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(trust: trust))
            })
            let session = stage.session(again: server.url("/again"), delegate: book) { $0.tls = tls }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
        Scenario(.tls, "upload") { stage in
            let server = try stage.securedServer({ _ in }) { $0.route("POST", "/echo") { .data($0.body) } }
            let tls = try Stage.trust
            let session = stage.session(again: server.url("/again")) { $0.tls = tls }
            let text = String(repeating: "0123456789", count: 4000)
            var request = URLRequest(url: server.url("/echo"))
            request.httpMethod = "POST"
            request.httpBody = Data(text.utf8)
            await stage.load(request, in: session, expecting: text)
        },
        // All three greet in one context, which may lack what there was no memory for.
        Scenario(.tls, "parallel", mayFail: 3) { stage in
            let server = try stage.securedServer({ _ in }, greeting)
            let tls = try Stage.trust
            let session = stage.session(again: server.url("/again")) { $0.tls = tls }
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...3 {
                    group.addTask { await stage.load(server.url("/bye"), in: session, expecting: "bye") }
                }
            }
        },
    ]

    /// A policy that pins the site, and could be made: one whose certificates cannot be read refuses everybody.
    private static func pinning(_ stage: Stage) throws -> SecurityPolicy {
        let certificate = try Stage.site.certificate
        return stage.spare { SecurityPolicy(pinningMode: .publicKey, certificates: [certificate]) }
    }

    private static let tlsIdentities: [Scenario] = [
        Scenario(.tls, "identity-pkcs12") { stage in
            let file = try stage.spare { try Stage.client.pkcs12(passphrase: "open") }
            try await identity(stage) { try ClientIdentity(pkcs12: file, passphrase: "open") }
        },
        // In a context of OpenSSL's of its own, with its legacy provider.
        Scenario(.tls, "identity-legacy") { stage in
            let file = try stage.spare { try Stage.client.pkcs12(passphrase: "open", encryption: .legacy) }
            try await identity(stage) { try ClientIdentity(pkcs12: file, passphrase: "open") }
        },
        Scenario(.tls, "identity-pem") { stage in
            let client = try Stage.client
            let text = stage.spare { Array((client.chainPEM + client.privateKeyPEM).utf8) }
            try await identity(stage) { try ClientIdentity(pem: text) }
        },
    ]

    /// Loads from a server that asks who we are.
    private static func identity(_ stage: Stage, _ read: () throws -> ClientIdentity) async throws {
        let server = try stage.securedServer(
            { $0.clientCertificates = .required(by: [try Stage.authority.certificate]) },
            greeting
        )
        guard let identity = await stage.step("reading the identity", { try read() }) else { return }
        var tls = try Stage.trust
        tls.identity = identity
        let session = stage.session(again: server.url("/again")) { [tls] in $0.tls = tls }
        await stage.load(server.url("/bye"), in: session, expecting: "bye")
    }

    /// Loads from a server that must not be trusted: it must not hear a byte of the request.
    private static func refuse(
        _ stage: Stage,
        showing certificate: IssuedCertificate,
        codes: Set<Int>,
        _ configure: (inout TLSConfiguration) throws -> Void = { _ in }
    ) async throws {
        let server = try stage.securedServer({ $0 = ServerTLS(certificate) }, greeting)
        var tls = try Stage.trust
        try configure(&tls)
        let session = stage.session(again: nil) { [tls] in $0.tls = tls }
        var request = URLRequest(url: server.url("/hello"))
        request.setValue(stage.secret("token"), forHTTPHeaderField: "Authorization")
        for _ in 1...2 {
            await stage.refusal("an impostor", codes: codes) {
                try await session.data(for: request)
            }
        }
        stage.demand(server.requests.isEmpty, "the impostor got a request")
    }

    private static let tlsRefused: [Scenario] = [
        Scenario(.tls, "pin-refuses") { stage in
            let other = try Stage.other
            let policy = try pinning(stage)
            try await refuse(stage, showing: other, codes: [-1202]) { $0.evaluator = policy }
        },
        Scenario(.tls, "pin-refuses-tls12") { stage in
            let other = try Stage.other
            let policy = try pinning(stage)
            try await refuse(stage, showing: other, codes: [-1202]) { tls in
                tls.evaluator = policy
                tls.maximumVersion = .v1_2
            }
        },
        Scenario(.tls, "unknown-authority") { stage in
            try await refuse(stage, showing: try Stage.foreign, codes: [-1203, -1202])
        },
        Scenario(.tls, "wrong-name") { stage in
            try await refuse(stage, showing: try Stage.elsewhere, codes: [-1202])
        },
        Scenario(.tls, "expired") { stage in
            try await refuse(stage, showing: try Stage.expired, codes: [-1201])
        },
        Scenario(.tls, "for-clients") { stage in
            try await refuse(stage, showing: try Stage.clientOnly, codes: [-1202])
        },
        Scenario(.tls, "without-key-identifier") { stage in
            try await refuse(stage, showing: try Stage.strict, codes: [-1202])
        },
        Scenario(.tls, "too-deep") { stage in
            try await refuse(stage, showing: try Stage.deep, codes: [-1202])
        },
    ]
}
