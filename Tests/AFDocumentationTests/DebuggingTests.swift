import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the articles about debugging and reachability.
@Suite struct DebuggingTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `an error says what happened`() async throws {
        let gone = try TestServer()
        let (session, url) = (site.session, gone.url("/"))
        gone.stop()
        func use(_ data: Data) { Issue.record("a server answered") }

        do {
            let (data, _) = try await session.data(from: url)
            use(data)
        } catch let error as URLError {
            print(error.loadFailure?.message ?? error.localizedDescription)
        }
    }

    @Test func `a session is watched`() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.eventMonitors = [LoggingMonitor { print($0) }]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: site.url("/bytes/10"))

        let collector = TaskMetricsCollector()
        let (data, response) = try await session.data(for: request, delegate: collector)
        for entry in collector.metrics?.transactionMetrics ?? [] {
            print(entry.request, entry.isReusedConnection, entry.responseStartDate ?? "no response")
        }

        #expect(data.count == 10 && response.url == request.url)
        #expect(collector.metrics?.transactionMetrics.count == 1)
        let task = session.dataTask(with: request)
        print(task.curlCommand())
        #expect(task.curlCommand().hasPrefix("curl"))
    }

    @Test func `traffic is recorded`() async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("traffic.har")
        let configuration = URLSessionConfiguration.ephemeral

        let recorder = HARRecorder()
        configuration.eventMonitors = [recorder]

        let session = site.owned(URLSession(configuration: configuration))
        _ = try await session.data(from: site.url("/bytes/10"))

        try recorder.archive().write(to: file)

        #expect(try Data(contentsOf: file).count > 100)
    }

    @Test func `reachability is watched and asked about`() async throws {
        let queue = OperationQueue()

        let manager = NetworkReachabilityManager.manager(forDomain: "api.example.com")
        manager.setReachabilityStatusChange { status in
            if status.isReachable { queue.isSuspended = false } else { queue.isSuspended = true }
        }
        manager.startMonitoring()

        manager.stopMonitoring()

        let path = NetworkMonitor(host: "10.1.2.3").currentPath
        print(path.status, path.interface?.name ?? "-", path.reason ?? "")
        // unsatisfied - no way to 10.1.2.3: interface eth0 has no carrier

        #expect(NetworkReachabilityManager.shared.networkReachabilityStatus.rawValue >= -1)
    }

    /// Compiled as it stands, and not run: statuses have no end.
    private func follow(_ manager: NetworkReachabilityManager) async {
        manager.callbackQueue = DispatchQueue(label: "reachability")

        for await status in manager.statuses {
            print(status)
        }
    }
}
