import AFNetworkingTesting
import AFSecurity
import AFTLS
import AFURLSession
import Foundation
import Testing

/// Stands for the digests of other libraries in code that was ported.
func sha256(_ data: Data) -> Data {
    Data(SHA256Digest.of(Array(data)))
}

/// Sessions whose delegates pin with the names of Apple's Security framework.
@Suite struct PinningDelegateTests {
    private let authority: CertificateAuthority
    private let leaf: Certificate
    private let stranger: Certificate
    private let server: TestServer

    init() throws {
        authority = try CertificateAuthority()
        let issued = try authority.issue(for: "localhost", "127.0.0.1", "::1")
        leaf = issued.certificate
        stranger = try CertificateAuthority().certificate
        server = try TestServer(tls: ServerTLS(issued))
        server.route("GET", "/hello", .text("hello"))
    }

    /// The text of the answer, or the code of the error.
    private enum Outcome: Equatable, Sendable {
        case text(String)
        case code(Int)
    }

    private func load(_ delegate: any URLSessionDelegate, trusting: Bool = true) async -> Outcome {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls.anchors = .certificates(trusting ? [authority.certificate] : [])
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return await withCheckedContinuation { continuation in
            session.dataTask(with: server.url("/hello")) { data, _, error in
                let outcome: Outcome =
                    if let error { .code((error as NSError).code) } else {
                        .text(String(decoding: data ?? Data(), as: UTF8.self))
                    }
                continuation.resume(returning: outcome)
            }.resume()
        }
    }

    @Test func `certificates are compared`() async {
        func delegate(_ pinned: Certificate) -> CertificatePinningDelegate {
            CertificatePinningDelegate(pinnedCertificate: Data(pinned.derBytes))
        }

        #expect(await load(delegate(leaf)) == .text("hello"))
        #expect(await load(delegate(stranger)) == .code(-999))
        #expect(await load(delegate(leaf), trusting: false) == .code(-999))
    }

    @Test func `keys are compared below an authority of one's own`() async throws {
        func delegate(_ root: Certificate, _ pinned: Certificate) throws -> PublicKeyPinningDelegate {
            let key = try #require(SecCertificateCopyKey(pinned))
            return PublicKeyPinningDelegate(
                rootCertificateData: Data(root.derBytes),
                pinnedKeyData: try #require(SecKeyCopyExternalRepresentation(key, nil))
            )
        }
        let root = authority.certificate

        #expect(try await load(delegate(root, leaf), trusting: false) == .text("hello"))
        #expect(try await load(delegate(root, root), trusting: false) == .text("hello"))
        #expect(try await load(delegate(root, stranger), trusting: false) == .code(-999))
        #expect(try await load(delegate(stranger, leaf)) == .code(-999))
    }

    @Test func `digests of keys are compared`() async {
        func delegate(_ pinned: Certificate) -> HashPinningDelegate {
            HashPinningDelegate(pinnedHashes: [Data(pinned.pin.digest).base64EncodedString()])
        }

        #expect(await load(delegate(leaf)) == .text("hello"))
        #expect(await load(delegate(stranger)) == .code(-999))
        #expect(await load(delegate(leaf), trusting: false) == .code(-999))
    }

    @Test func `what a delegate sets has no part in the session's own decision`() async {
        #expect(await load(AnchoringDelegate(root: authority.certificate), trusting: false) == .code(-1203))
    }
}

/// Sets an authority, finds the server trusted by it, and leaves the decision to the session.
private final class AnchoringDelegate: NSObject, URLSessionDelegate {
    private let root: Certificate

    init(root: Certificate) {
        self.root = root
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if let trust = challenge.protectionSpace.serverTrust {
            SecTrustSetAnchorCertificates(trust, [root] as CFArray)
            // Without an answer the test waits in vain.
            guard SecTrustEvaluateWithError(trust, nil) else { return }
        }
        completionHandler(.performDefaultHandling, nil)
    }
}
