import AFURLSession
import Foundation

/// Runs the URLs of a command line one after the other, in one session.
@MainActor struct Client {
    private let arguments: Arguments
    private let console: Console
    private let session: URLSession
    private let servers = TrustLog()

    init(_ arguments: Arguments, _ console: Console) throws(TransferFailure) {
        self.arguments = arguments
        self.console = console
        let configuration = arguments.configuration
        configuration.tls.anchors = try arguments.security.anchors()
        configuration.tls.identity = try arguments.security.identity()
        configuration.tls.evaluator = WatchedRules(rules: try arguments.security.serverRules(), seen: servers.note)
        session = URLSession(configuration: configuration, delegate: nil, delegateQueue: .main)
    }

    /// Goes on after a failure; the code is that of the last URL.
    func run() async -> ExitCode {
        var code = ExitCode.done
        let body: Data?
        do throws(SystemFailure) {
            body = try loadBody()
        } catch {
            console.report("the body to send cannot be read: \(error.text)")
            return .cannotRead
        }
        warn()
        for (index, url) in arguments.urls.enumerated() {
            do throws(TransferFailure) {
                try await load(url, body, to: index < arguments.outputs.count ? arguments.outputs[index] : "-")
                code = .done
            } catch {
                console.report(error, isVerbose: arguments.isVerbose)
                code = error.code
            }
        }
        return code
    }

    private func warn() {
        guard arguments.security.isInsecure, arguments.urls.contains(where: { $0.lowercased().hasPrefix("https:") })
        else { return }
        let rest =
            arguments.security.hasPins ? "only what is pinned" : "anybody on the way can read and change all of it"
        console.report("--insecure: certificates are not checked for their issuer, their dates or the host: \(rest)")
    }

    private func load(_ text: String, _ body: Data?, to path: String) async throws(TransferFailure) {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw TransferFailure(.malformedURL, "not a URL: \(text) (are special characters percent-encoded?)")
        }
        let request = arguments.request(for: url, body: body)
        let transfer = Transfer(session.dataTask(with: request), arguments, BodySink(path), console, servers)
        try await transfer.run()
    }

    private func loadBody() throws(SystemFailure) -> Data? {
        switch arguments.body {
        case nil: return nil
        case .text(let text): return Data(text.utf8)
        case .file("-"): return try Descriptor.standardInput.readToEnd()
        case .file(let path): return try Descriptor.contents(of: path)
        }
    }
}
