import AFNetworking
import Foundation

/// `afnet pins`: shows the certificates and pins of a server or a file.
@MainActor struct PinsCommand {
    private let arguments: Arguments
    private let target: PinsTarget

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        do throws(ArgumentError) {
            target = try PinsTarget(arguments.urls.first ?? "")
        } catch {
            throw TransferFailure(error)
        }
    }

    func run() async throws(TransferFailure) -> ExitCode {
        let report = try await report()
        // A certificate may contain escape sequences.
        try Descriptor.show(report.lines.map { TerminalText.escaped($0) + "\n" }.joined())
        return .done
    }

    private func report() async throws(TransferFailure) -> PinsReport {
        let anchors = try arguments.security.anchors()
        switch target {
        case .host(let name, let peer):
            let trust = ServerTrust(servedChain: try await chain(of: peer, anchors), host: name, anchors: anchors)
            return PinsReport(source: .server(peer), trust: trust, authorities: arguments.security.authorities)
        case .file(let path):
            switch try contents(of: path) {
            case .publicKey(let pin): return PinsReport(path: path, pin: pin)
            case .certificates(let certificates):
                let trust = ServerTrust(servedChain: certificates, host: "", anchors: anchors)
                return PinsReport(source: .file(path), trust: trust, authorities: arguments.security.authorities)
            }
        }
    }

    private func contents(of path: String) throws(TransferFailure) -> KeyFile {
        do throws(FileProblem) {
            return try KeyFile(path: path)
        } catch {
            throw TransferFailure(.badArgument, "pins: \(error.message)")
        }
    }

    /// The certificates that the server sends. It gets no request, because the handshake is not completed.
    private func chain(of peer: String, _ anchors: TrustAnchors) async throws(TransferFailure) -> [Certificate] {
        guard let url = URL(string: "https://\(peer)/") else {
            throw TransferFailure(.malformedURL, "pins: \(peer) is no host")
        }
        let configuration = SessionOptions(arguments).plainConfiguration
        configuration.tls.anchors = anchors
        configuration.tls.evaluator = Inspection()
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: url)
        arguments.limitTime(of: &request)
        do {
            _ = try await session.data(for: request)
        } catch {
            let security = (error as? URLError)?.loadFailure?.security
            guard let security, security.rule == Inspection.rule else {
                throw TransferFailure(error, hasResponse: false)
            }
            return security.servedChain
        }
        throw TransferFailure(.otherProtocolError, "pins: the server was not asked for its certificates")
    }

    /// Refuses every server, so that the error has the server's certificates.
    private struct Inspection: ServerEvaluator {
        static let rule = "afnet pins"

        func evaluate(_ trust: ServerTrust) -> ServerTrustDecision {
            .reject(rule: Self.rule, explanation: "only its certificates were wanted")
        }
    }
}
