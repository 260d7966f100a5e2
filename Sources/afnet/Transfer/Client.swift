import AFURLSession
import Foundation

/// Runs the URLs of a command line one after the other.
@MainActor struct Client {
    private let sessions: Sessions
    private let servers = TrustLog()

    init() {
        sessions = Sessions(servers)
    }

    /// Goes on after a failure; the code is that of the last URL.
    func run(_ groups: [Arguments]) async -> ExitCode {
        var code = ExitCode.done
        for group in groups {
            do throws(TransferFailure) {
                code = try await run(group)
            } catch {
                Console(group).report(error, isVerbose: group.isVerbose)
                code = error.code
            }
        }
        await sessions.finish()
        return code
    }

    private func run(_ arguments: Arguments) async throws(TransferFailure) -> ExitCode {
        let session = try sessions.session(for: SessionOptions(arguments))
        let payload = try Payload(arguments)
        let jar = try CookieKeeper(arguments.cookies, sessions.cookies)
        warn(arguments)
        var code = ExitCode.done
        for (index, url) in arguments.urls.enumerated() {
            do throws(TransferFailure) {
                let output = index < arguments.outputs.count ? arguments.outputs[index] : "-"
                try await load(url, arguments, payload, jar, in: session, to: output)
                code = .done
            } catch {
                Console(arguments).report(error, isVerbose: arguments.isVerbose)
                code = error.code
            }
        }
        try jar.finish()
        return code
    }

    private func warn(_ arguments: Arguments) {
        guard arguments.security.isInsecure, arguments.urls.contains(where: { $0.lowercased().hasPrefix("https:") })
        else { return }
        let rest =
            arguments.security.hasPins ? "only what is pinned" : "anybody on the way can read and change all of it"
        Console(arguments).report(
            "--insecure: certificates are not checked for their issuer, their dates or the host: \(rest)"
        )
    }

    private func load(
        _ text: String,
        _ arguments: Arguments,
        _ payload: Payload,
        _ jar: CookieKeeper,
        in session: URLSession,
        to path: String
    ) async throws(TransferFailure) {
        guard var url = URL(string: text, encodingInvalidCharacters: false) else {
            throw TransferFailure(.malformedURL, "not a URL: \(text) (are special characters percent-encoded?)")
        }
        // What stands in the URL is as good as --user, and is then not the library's to use.
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        let login = arguments.login ?? Login(of: components)
        if components?.user != nil || components?.password != nil {
            components?.user = nil
            components?.password = nil
            url = components?.url ?? url
        }
        try jar.addExtra(for: url)
        let offset = try offset(arguments.resume, of: path)
        let request = arguments.request(for: url, login, form: payload.data, from: offset)
        let sink = BodySink(path, appends: offset != nil)
        let transfer = Transfer(
            payload.task(for: request, in: session),
            arguments,
            Identity(url, login, arguments),
            sink,
            Console(arguments),
            servers
        )
        try await transfer.run(from: offset)
    }

    /// Nil for a download from its beginning.
    private func offset(_ resume: ResumeOption?, of path: String) throws(TransferFailure) -> Int64? {
        switch resume {
        case nil: return nil
        case .offset(let offset): return offset
        case .size:
            do throws(SystemFailure) {
                let size = try Descriptor.size(of: path) ?? 0
                return size > 0 ? size : nil
            } catch {
                throw TransferFailure(.cannotWrite, "--resume: \(path): \(error.text)")
            }
        }
    }
}
