import AFURLSession
import Foundation

/// A TLS server with its own authority, whose files are in a folder.
final class SecuredSite {
    let authority: CertificateAuthority
    let intermediate: CertificateAuthority
    let issued: IssuedCertificate
    let server: TestServer
    let folder: Program.Folder
    /// The root, for `--cacert`.
    let root: String

    init(
        for hosts: [String] = ["127.0.0.1", "localhost", "::1"],
        on address: ListenAddress = .ipv4Loopback,
        _ changeCertificate: (inout CertificateTemplate) -> Void = { _ in },
        tls changeTLS: (inout ServerTLS, CertificateAuthority) -> Void = { _, _ in }
    ) throws {
        folder = try Program.Folder()
        authority = try CertificateAuthority("Site Root")
        intermediate = try authority.makeIntermediate("Site Intermediate")
        var template = CertificateTemplate.server(for: hosts)
        template.subject = [.commonName("site")]
        changeCertificate(&template)
        issued = try intermediate.issue(template)
        var tls = ServerTLS(issued)
        changeTLS(&tls, authority)
        server = try TestServer(on: address, tls: tls)
        server.route("GET", "/close", ServerReply.text("closed").keepAlive(false))
        server.route("*", "/*", .text("answer"))
        root = try folder.make("root.pem", Data(authority.pem.utf8))
    }

    deinit {
        server.stop()
    }

    var url: String { server.url("/x").absoluteString }
    /// Answers "closed" and closes the connection.
    var closingURL: String { server.url("/close").absoluteString }
    var leafPin: String { issued.certificate.pin.description }
    var intermediatePin: String { intermediate.certificate.pin.description }
    var rootPin: String { authority.certificate.pin.description }

    /// The pin in curl's spelling.
    static func curls(_ pin: String) -> String { pin.replacing("sha256/", with: "sha256//", maxReplacements: 1) }

    /// A pin that no key has.
    static let strangePin = PublicKeyPin(publicKeyBytes: [1, 2, 3]).description

    /// Runs the program with the root of the site, and its URL.
    func run(_ arguments: String...) async throws -> Program.Run {
        try await Program.run(["--cacert", root] + arguments + [url])
    }

    /// Whether a client has sent anything besides handshakes.
    var gotNothing: Bool {
        server.requests.isEmpty && server.connections.allSatisfy { $0.received.isEmpty }
    }
}
