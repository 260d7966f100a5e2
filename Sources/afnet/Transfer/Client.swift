import Foundation

/// Runs the groups of a command line one after the other.
@MainActor struct Client {
    private let sessions: Sessions
    private let servers = TrustLog()
    private let files = RunFiles()

    init() {
        sessions = Sessions(servers)
    }

    /// Continues after a failure. The code is that of the last group.
    func run(_ groups: [Arguments]) async -> ExitCode {
        var code = ExitCode.done
        for group in groups {
            do throws(TransferFailure) {
                code = try await run(group)
            } catch {
                Console(group).report(error, isVerbose: group.isVerbose)
                code = error.code
                if let path = group.report {
                    for url in group.urls { try? files.add(TransferResult(url, failure: error), to: path) }
                }
            }
            if group.failsEarly, code != .done { break }
        }
        await sessions.finish()
        return code
    }

    private func run(_ arguments: Arguments) async throws(TransferFailure) -> ExitCode {
        let session = try sessions.session(for: SessionOptions(arguments))
        let jar = try CookieKeeper(arguments.cookies, cookies: sessions.cookies)
        let group = try TransferGroup(
            arguments,
            session: session,
            listeners: sessions.listeners,
            servers: servers,
            files: files
        )
        warn(arguments)
        let code = await group.run()
        return finish(jar, for: arguments) ?? code
    }

    /// A jar that cannot be written does not change the reports of the URLs.
    private func finish(_ jar: CookieKeeper, for arguments: Arguments) -> ExitCode? {
        do throws(TransferFailure) {
            try jar.finish()
            return nil
        } catch {
            Console(arguments).report(error, isVerbose: arguments.isVerbose)
            return error.code
        }
    }

    private func warn(_ arguments: Arguments) {
        if arguments.targets.count > arguments.urls.count {
            Console(arguments).report("there are more --output than URLs: the last ones are not used")
        }
        guard arguments.security.isInsecure, arguments.urls.contains(where: { $0.lowercased().hasPrefix("https:") })
        else { return }
        let rest =
            arguments.security.hasPins
            ? "only what is pinned" : "every machine on the way can read and change all of it"
        Console(arguments).report(
            "--insecure: certificates are not checked for their issuer, their dates or the host: \(rest)"
        )
    }
}
