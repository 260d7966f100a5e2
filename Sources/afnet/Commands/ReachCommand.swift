import AFNetworking
import Dispatch
import Foundation

/// `afnet reach`: shows whether there is a route to a host, or to the internet, and each change.
@MainActor struct ReachCommand {
    private let arguments: Arguments
    private let monitor: NetworkMonitor
    private let manager: NetworkReachabilityManager

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        let host = arguments.urls.first
        if let host, PeerName(host) == nil {
            throw TransferFailure(.badArgument, "reach needs the name or address of a host, not \"\(host)\"")
        }
        monitor = host.map { NetworkMonitor(host: $0) } ?? NetworkMonitor()
        manager = NetworkReachabilityManager(reachability: monitor)
    }

    /// Runs until it is interrupted. With `--once`: 0 if the host is reachable, 7 if not.
    func run() async throws(TransferFailure) -> ExitCode {
        let interruption = Interruption()
        let statuses = manager.statuses
        let text = Task { @MainActor in await self.follow(statuses) }
        interruption.onArrival { text.cancel() }
        let result = await text.value
        interruption.stop()
        return try result.get()
    }

    private func follow(_ statuses: AsyncStream<NetworkReachabilityStatus>) async -> Result<ExitCode, TransferFailure> {
        var former: String?
        for await status in statuses {
            if arguments.isOnce, status == .unknown { continue }
            let line = Self.text(status, path: monitor.currentPath)
            if line != former {
                do throws(TransferFailure) { try write(line) } catch { return .failure(error) }
            }
            former = line
            if arguments.isOnce { return .success(status.isReachable ? .done : .cannotConnect) }
        }
        return .success(.done)
    }

    private func write(_ line: String) throws(TransferFailure) {
        try Descriptor.show("\(Date.now.formatted(.iso8601))  \(TerminalText.escaped(line))\n")
    }

    private static func text(_ status: NetworkReachabilityStatus, path: NetworkPath) -> String {
        let place = path.interface.map { " by \($0.name)" } ?? ""
        switch status {
        case .unknown: return "not known"
        case .notReachable: return "not reachable" + (path.reason.map { ": \($0)" } ?? "")
        case .reachableViaWWAN: return "reachable\(place), a cellular network"
        case .reachableViaWiFi: return "reachable\(place)"
        }
    }
}
