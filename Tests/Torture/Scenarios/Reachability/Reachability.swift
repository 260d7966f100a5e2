import AFBase
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// What is told of the network.
    static let reachability = Reachability.told + Reachability.changing
}

private enum Reachability {
    /// What a scenario has been told without a fault: with one it is that, or that it is not known.
    private static let known = Lock<[String: NetworkReachabilityStatus]>([:])

    private static func judge(
        _ status: NetworkReachabilityStatus,
        of what: String,
        orIf call: String? = nil,
        on stage: Stage
    ) {
        guard let point = stage.point else {
            stage.demand(status != .unknown, "nothing is known")
            return known.withLock { $0[what] = status }
        }
        if point.fault.call == call { return }
        let right = known.withLock { $0[what] }
        stage.demand(status == .unknown || right == nil || status == right, "\(status), not \(right ?? .unknown)")
    }

    private static func manager(_ host: String?, on stage: Stage) -> NetworkReachabilityManager {
        OwnNetwork.connect()
        let manager = NetworkReachabilityManager(reachability: NetworkMonitor(host: host, in: stage.machine))
        manager.callbackQueue = DispatchQueue(label: "AFTorture.reachability")
        return manager
    }

    /// The first that a manager tells after it has begun to watch.
    private static func first(
        of manager: NetworkReachabilityManager,
        on stage: Stage
    ) async -> NetworkReachabilityStatus {
        let completion = stage.completion(of: "a first status", as: NetworkReachabilityStatus.self)
        let isFirst = Lock(true)
        manager.setReachabilityStatusChange { status in
            let wasFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if wasFirst { completion.call(status) }
        }
        manager.startMonitoring()
        return await completion.value()
    }

    static let told: [Scenario] = [
        Scenario(.reachability, "machine") { stage in
            let manager = manager(nil, on: stage)
            judge(await first(of: manager, on: stage), of: "machine", on: stage)
            manager.stopMonitoring()
        },
        Scenario(.reachability, "address") { stage in
            let manager = manager("127.0.0.1", on: stage)
            judge(await first(of: manager, on: stage), of: "address", on: stage)
            manager.stopMonitoring()
        },
        Scenario(.reachability, "name") { stage in
            let manager = manager("localhost", on: stage)
            // If the resolver says that there is no such name, the host is not reachable.
            judge(await first(of: manager, on: stage), of: "name", orIf: "getaddrinfo", on: stage)
            manager.stopMonitoring()
        },
        Scenario(.reachability, "started-again") { stage in
            let manager = manager("127.0.0.1", on: stage)
            _ = await first(of: manager, on: stage)
            let calls = Lock(0)
            manager.setReachabilityStatusChange { _ in calls.withLock { $0 += 1 } }
            manager.stopMonitoring()
            let before = calls.withLock { $0 }
            await withCheckedContinuation { continuation in
                manager.callbackQueue?.async { continuation.resume() }
            }
            stage.demand(calls.withLock { $0 } == before, "it goes on after its end")
            judge(await first(of: manager, on: stage), of: "started-again", on: stage)
            manager.stopMonitoring()
        },
        Scenario(.reachability, "awaited") { stage in
            let manager = manager("127.0.0.1", on: stage)
            var statuses = manager.statuses.makeAsyncIterator()
            guard let status = await statuses.next() else { return stage.find("it ends without a status") }
            judge(status, of: "awaited", on: stage)
        },
        Scenario(.reachability, "asked-at-once") { stage in
            OwnNetwork.connect()
            let path = NetworkMonitor(host: "127.0.0.1", in: stage.machine).currentPath
            judge(NetworkReachabilityStatus(path), of: "asked-at-once", on: stage)
            if path.status == .unknown {
                stage.demand(path.reason != nil, "the path is unknown without a reason")
            } else {
                stage.demand(path.interfaces.contains { $0.name == "lo" }, "there is no loopback interface")
            }
        },
    ]

    static let changing: [Scenario] = [
        Scenario(.reachability, "gone-and-back") { stage in
            let manager = manager("127.0.0.1", on: stage)
            defer { manager.stopMonitoring() }
            let latest = Lock(NetworkReachabilityStatus.unknown)
            manager.setReachabilityStatusChange { status in latest.withLock { $0 = status } }
            manager.startMonitoring()
            let isThere = await Patience.until { latest.withLock { $0 } == .reachableViaWiFi }
            stage.demand(isThere, "it is never reachable, but \(latest.withLock { $0 })")
            guard OwnNetwork.isOwn else { return }
            OwnNetwork.disconnect()
            defer { OwnNetwork.connect() }
            let isGone = await Patience.until { latest.withLock { $0 } == .notReachable }
            stage.demand(isGone, "it is still \(latest.withLock { $0 })")
        },
        Scenario(.reachability, "waited-for") { stage in
            OwnNetwork.connect()
            let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
            let session = stage.session(again: server.url("/again")) { $0.waitsForConnectivity = true }
            if OwnNetwork.isOwn {
                OwnNetwork.disconnect()
                // The loopback interface is back when the task has found that it is not there.
                Task {
                    try? await Task.sleep(for: .milliseconds(20))
                    OwnNetwork.connect()
                }
            }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
            OwnNetwork.connect()
        },
    ]
}
