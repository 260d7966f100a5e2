import AFURLSession
import Foundation

/// The sessions of one run: as few as its groups allow, with one memory for all of them.
@MainActor final class Sessions {
    private var made: [(options: SessionOptions, session: URLSession)] = []
    private var caches: [String: URLCache] = [:]
    private let credentials = URLCredentialStorage()
    private let servers: TrustLog

    let cookies = HTTPCookieStorage()
    let listeners = TransferListeners()

    init(_ servers: TrustLog) {
        self.servers = servers
    }

    func session(for options: SessionOptions) throws(TransferFailure) -> URLSession {
        if let known = made.first(where: { $0.options == options }) { return known.session }
        let session = URLSession(
            configuration: try configuration(options),
            delegate: listeners.plain,
            delegateQueue: .main
        )
        made.append((options, session))
        return session
    }

    func configuration(_ options: SessionOptions) throws(TransferFailure) -> URLSessionConfiguration {
        let console = Console(isSilent: options.isSilent)
        let configuration = options.plainConfiguration
        configuration.httpCookieStorage = options.usesCookies ? cookies : nil
        configuration.httpCookieAcceptPolicy = .always
        configuration.decodesContent = options.isCompressed
        configuration.urlCache = options.cache.map(cache)
        configuration.urlCredentialStorage = credentials
        configuration.netrc = try netrc(options.netrc)
        configuration.sendsPasswordsInClear = options.mayTellPasswords
        configuration.proxies = try proxies(options.proxy)
        configuration.tls.anchors = try options.security.anchors()
        configuration.tls.minimumVersion = options.security.minimumVersion
        configuration.tls.maximumVersion = options.security.maximumVersion
        configuration.tls.identity = try options.security.identity()
        let rules = try options.security.serverRules { report in
            guard !report.isRefused else { return }
            console.report(
                "--policy: \(report.host) would be refused, but its rule only reports: \(report.explanation)"
            )
        }
        configuration.tls.evaluator = WatchedRules(rules: rules, seen: servers.note)
        return configuration
    }

    /// Waits until what is to be kept is on the disk, where the next run looks for it.
    ///
    /// - Parameter other: A session of somebody else's, with a configuration of ours.
    func finish(besides other: URLSession? = nil) async {
        guard !caches.isEmpty else { return }
        // A response goes to the cache once its delegate was asked, and nobody waits for that but whoever comes behind.
        for session in made.map(\.session) + [other].compactMap(\.self) {
            await withCheckedContinuation { done in session.flush { done.resume() } }
        }
        // Asking for its size waits for all that is under way.
        for cache in caches.values { _ = cache.currentDiskUsage }
    }

    private func cache(in folder: String) -> URLCache {
        if let known = caches[folder] { return known }
        let place = URL(fileURLWithPath: folder, isDirectory: true)
        let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 1 << 30, directory: place)
        caches[folder] = cache
        return cache
    }

    private func netrc(_ path: String?) throws(TransferFailure) -> NetrcFile? {
        guard let path else { return nil }
        let file = path.isEmpty ? (ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()) + "/.netrc" : path
        do throws(NetrcError) {
            return try NetrcFile(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw TransferFailure(.cannotRead, "--netrc: \(error)")
        }
    }

    private func proxies(_ options: ProxyOptions) throws(TransferFailure) -> ProxyConfiguration? {
        do throws(ArgumentError) {
            return try options.configuration()
        } catch {
            throw TransferFailure(error.code, error.message)
        }
    }
}
