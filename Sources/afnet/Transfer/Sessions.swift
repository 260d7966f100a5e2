import AFNetworking
import AFURLSession
import Foundation

/// The sessions of one run: as few as its groups allow. They share cookies and caches.
@MainActor final class Sessions {
    private var made: [(options: SessionOptions, session: URLSession)] = []
    /// By the bytes of their folders.
    private var caches: [[UInt8]: URLCache] = [:]
    private let servers: TrustLog
    /// Those of `--policy`, which may still have something to report.
    private var policies: [SecurityPolicy] = []

    let cookies = RunCookies()
    let listeners = TransferListeners()

    init(_ servers: TrustLog) {
        self.servers = servers
    }

    func session(for options: SessionOptions) throws(TransferFailure) -> URLSession {
        if let known = made.first(where: { $0.options.makesSame(as: options) }) { return known.session }
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
        configuration.httpCookieStorage = cookies.storage
        configuration.httpCookieAcceptPolicy = .always
        configuration.urlCache = options.cache.map(cache)
        // What one login has proven is not another's.
        configuration.urlCredentialStorage = URLCredentialStorage()
        configuration.proxies = try proxies(options)
        configuration.tls.anchors = try options.security.anchors()
        configuration.tls.minimumVersion = options.security.minimumVersion
        configuration.tls.maximumVersion = options.security.maximumVersion
        configuration.tls.resumesSessions = options.security.resumesSessions
        configuration.tls.ciphers = options.security.ciphers
        configuration.tls.identity = try options.security.identity()
        let rules = try options.security.serverRules { report in
            guard !report.isRefused else { return }
            console.report(
                "--policy: \(report.host) would be refused, but its rule only reports: \(report.explanation)"
            )
        }
        policies += [rules.policy].compactMap(\.self)
        configuration.tls.evaluator = WatchedRules(rules: rules, seen: servers.note)
        return configuration
    }

    /// Waits until all reports are written, and the caches are on the disk, so that the next run finds them.
    ///
    /// - Parameter other: Another session with a configuration of `configuration(_:)`.
    func finish(besides other: URLSession? = nil) async {
        for policy in policies { await policy.drainReports() }
        guard !caches.isEmpty else { return }
        // A response goes to the cache after its delegate was asked, which may be after the task has completed.
        for session in made.map(\.session) + [other].compactMap(\.self) {
            await withCheckedContinuation { done in session.flush { done.resume() } }
        }
        // The size is known once all writes are done.
        for cache in caches.values { _ = cache.currentDiskUsage }
    }

    private func cache(in folder: String) -> URLCache {
        let key = Array(folder.utf8)
        if let known = caches[key] { return known }
        let place = URL(fileURLWithPath: folder, isDirectory: true)
        let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 1 << 30, directory: place)
        // As a browser, and unlike a session unless it is told to.
        cache.guessesFreshness = true
        cache.servesOneUser = true
        caches[key] = cache
        return cache
    }

    private func proxies(_ options: SessionOptions) throws(TransferFailure) -> ProxyConfiguration {
        do throws(ArgumentError) {
            let proxies = try options.proxy.configuration()
            if options.connectsElsewhere, proxies.leadsToProxy {
                throw .usage(
                    "--connect-to and a proxy of the environment exclude each other: a proxy is told the host of the URL. "
                        + "--noproxy '*' goes without one"
                )
            }
            return proxies
        } catch {
            throw TransferFailure(error)
        }
    }
}
