import AFNetworkingTesting
import Foundation
import Glibc

/// `afnet serve`: serves a folder to this machine.
@MainActor struct ServeCommand {
    private let arguments: Arguments
    private let console: Console
    private let site: FolderSite
    private let hosts: ServedHosts

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        console = Console(arguments)
        let folder = arguments.urls.first ?? ""
        guard let site = FolderSite(folder) else {
            throw TransferFailure(.badArgument, "serve: \(folder) is no folder that can be read")
        }
        self.site = site
        hosts = try ServedHosts(arguments.hosts)
    }

    /// Runs until it is interrupted.
    func run() async throws(TransferFailure) -> ExitCode {
        // Before the first line: the user may interrupt as soon as it is there.
        let interruption = Interruption()
        let arrivals = interruption.arrivals()
        let authority = try authority()
        let server = try server(authority)
        let (site, hosts, console, isSilent) = (site, hosts, console, arguments.isSilent)
        server.route("*", "/*", answering: .head) { [weak server] request in
            let reply = hosts.contain(hostOf: request) ? site.reply(to: request) : Self.misdirected
            if !isSilent { console.say(Self.line(for: request, reply: reply)) }
            // The records would grow for as long as the server runs.
            server?.forgetRequests()
            return reply
        }
        let file = try authority.map { authority throws(TransferFailure) in try certificateFile(authority.pem) }
        defer { if arguments.authorityFile == nil, let file { unlink(file) } }
        try announce(server, authority: file)
        for await _ in arrivals {}
        interruption.stop()
        server.stop()
        return .done
    }

    private func server(_ authority: CertificateAuthority?) throws(TransferFailure) -> TestServer {
        do {
            var options = TestServer.Options()
            options.storedBodyLimit = 0
            options.storedTranscriptLimit = 0
            let template = CertificateTemplate.server(for: ["localhost", "127.0.0.1"] + arguments.hosts)
            let tls = try authority.map { ServerTLS(try $0.issue(template)) }
            return try TestServer(on: .ipv4Loopback(port: arguments.port ?? 0), tls: tls, options: options)
        } catch TestServerError.cannotListen(_, let reason) {
            throw TransferFailure(.cannotConnect, "serve: port \(arguments.port ?? 0) of 127.0.0.1: \(reason)")
        } catch {
            throw TransferFailure(.cannotConnect, "serve: \(error)")
        }
    }

    private func authority() throws(TransferFailure) -> CertificateAuthority? {
        guard arguments.isSecured else { return nil }
        do throws(CertificateMakingError) {
            return try CertificateAuthority("afnet serve")
        } catch {
            throw TransferFailure(.otherProtocolError, "serve: \(error)")
        }
    }

    /// - Parameter authority: The path of the authority's certificate.
    private func announce(_ server: TestServer, authority: String?) throws(TransferFailure) {
        let place = "serving \(arguments.urls.first ?? "") at \(server.url("/").absoluteString)"
        let text = place + (authority.map { ", with --cacert \($0)" } ?? "")
        do throws(SystemFailure) {
            try Descriptor.standardOutput.write(Data((TerminalText.escaped(text) + "\n").utf8))
        } catch {
            throw TransferFailure(.cannotWrite, "serve: standard output: \(error.text)")
        }
    }

    /// Writes the certificate to --ca-out, or to a temporary file, and returns the path.
    private func certificateFile(_ pem: String) throws(TransferFailure) -> String {
        let folder = Environment.value(of: "TMPDIR") ?? "/tmp"
        let path = arguments.authorityFile ?? "\(folder)/afnet-\(UUID().uuidString).pem"
        do throws(SystemFailure) {
            try Descriptor.replace(path, with: Data(pem.utf8))
            return path
        } catch {
            throw TransferFailure(.cannotWrite, "serve: \(path): \(error.text)")
        }
    }

    /// RFC 9110 §15.5.20
    nonisolated private static let misdirected =
        ServerReply.text("this host is not served here: see --host\n").status(421, reason: "Misdirected Request")

    /// `GET /a.txt 206 5`
    nonisolated private static func line(for request: RecordedRequest, reply: ServerReply) -> String {
        let size = request.method == "HEAD" ? nil : reply.body?.count
        return "\(request.method) \(request.target) \(reply.status)\(size.map { " \($0)" } ?? "")"
    }
}
