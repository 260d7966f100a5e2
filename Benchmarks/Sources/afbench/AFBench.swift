import AFURLSession
import Dispatch
import Foundation
import Harness

@main
struct AFBench {
    static func main() {
        let arguments = Arguments()
        let style = arguments.namedStyle
        let bench = Bench(arguments, callsBackOnNetworkThread: style == .network || style == .networkDelegate)
        guard style.needsMainQueue else { return arguments.measure(client(bench, style), named: style.name) }
        Thread.detachNewThread {
            arguments.measure(client(bench, style), named: style.name)
            exit(0)
        }
        while RunLoop.main.run(mode: .default, before: .distantFuture) {}
    }

    private static func client(_ bench: Bench, _ style: Style) -> any Client {
        if let out = bench.arguments.out { return DownloadClient(bench, out) }
        if let body = bench.arguments.body { return UploadClient(bench, body) }
        if let size = bench.arguments.messageSize { return messageClient(bench, style, size) }
        if let flood = bench.arguments.flood { return floodedClient(bench, style, flood) }
        switch style {
        case .completion, .network: return CompletionClient(bench)
        case .delegate, .networkDelegate: return DelegateClient(bench)
        case .discard: return DelegateClient(bench, hearsData: false)
        case .async: return AsyncClient(bench)
        case .executor: return ExecutorClient(bench)
        case .manager: return ManagerClient(bench)
        case .managerQueue: return ManagerClient(bench, queue: DispatchQueue(label: "bench.completions"))
        case .managerAsync: return ManagerAsyncClient(bench)
        case .operation: return OperationClient(bench)
        case .url: return CompletionClient(bench, .own)
        case .other: return CompletionClient(bench, .other)
        case .cache: return CompletionClient(bench, caches: true)
        case .cacheOther: return CompletionClient(bench, .other, caches: true)
        case .connection: return ConnectionClient(bench)
        }
    }

    private static func messageClient(_ bench: Bench, _ style: Style, _ size: Int) -> any Client {
        switch style {
        case .completion, .network: return MessageClient(bench, size)
        case .async: return AsyncMessageClient(bench, size)
        case .executor: return AsyncMessageClient(bench, size, on: URLSession.networkExecutor)
        default: bench.arguments.refuse("--message goes with completion, network, async and executor, not \(style)")
        }
    }
}

extension AFBench {
    private static func floodedClient(_ bench: Bench, _ style: Style, _ flood: String) -> any Client {
        switch style {
        case .completion, .network: return FloodedClient(bench, flood)
        default: bench.arguments.refuse("--flood goes with completion and network, not \(style)")
        }
    }
}

/// Which of the public ways of loading is measured.
enum Style: String, CaseIterable {
    case completion
    case async
    case delegate
    /// A delegate that has no use for bodies: what receiving costs, without handing over.
    case discard
    /// Completion handlers, called on the network thread.
    case network
    /// The same for a delegate.
    case networkDelegate = "network-delegate"
    /// Swift tasks that run on the network thread.
    case executor
    /// The verbs of a session manager.
    case manager
    /// The same, with a completion queue that is not the main queue.
    case managerQueue = "manager-queue"
    /// The `async` verb of a session manager, which decodes a small JSON.
    case managerAsync = "manager-async"
    /// The operations of AFNetworking 2.
    case operation
    /// Completion handlers, with a new URL and a new request for each task.
    case url
    /// Completion handlers, with another resource for each task.
    case other
    /// Completion handlers of a session with a cache, as sessions have unless told otherwise. The server of the benchmarks
    /// says nothing to caches, so the cache answers no request.
    case cache
    /// The same with another resource for each task.
    case cacheOther = "cache-other"
    /// Delegates of connections on the network thread.
    case connection

    /// Whether the main queue is served: the managers post their notifications there.
    var needsMainQueue: Bool {
        switch self {
        case .manager, .managerQueue, .managerAsync, .operation: true
        case .completion, .async, .delegate, .discard, .network, .networkDelegate, .executor, .url, .other, .cache,
            .cacheOther, .connection:
            false
        }
    }

    var name: String { "afbench-\(rawValue)" }
}

extension Arguments {
    fileprivate var namedStyle: Style {
        guard let style else { return .completion }
        guard let named = Style(rawValue: style) else {
            refuse("--style is one of \(Style.allCases.map(\.rawValue).joined(separator: ", ")), not \(style)")
        }
        return named
    }
}
