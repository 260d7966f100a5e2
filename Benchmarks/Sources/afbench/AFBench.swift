import AFURLSession
import Dispatch
import Foundation
import Harness

@main
struct AFBench {
    static func main() {
        // The cache that a program gets, in a folder of this run.
        setenv("XDG_CACHE_HOME", FileManager.default.temporaryDirectory.path, 1)
        let arguments = Arguments()
        let style = Style(arguments)
        let client = client(Bench(arguments: arguments, style: style))
        guard style.needsMainThread else { return arguments.measure(client, named: style.name) }
        Thread.detachNewThread {
            arguments.measure(client, named: style.name)
            exit(0)
        }
        while style.servesMainQueue, RunLoop.main.run(mode: .default, before: .distantFuture) {}
        DispatchSemaphore(value: 0).wait()
    }

    private static func client(_ bench: Bench) -> any Client {
        if let knowledge = bench.knowledge { return knowingClient(bench, knowledge) }
        if let size = bench.arguments.messageSize { return messageClient(bench, size) }
        if let flood = bench.arguments.flood { return floodedClient(bench, flood) }
        if let out = bench.arguments.out { return DownloadClient(bench, out) }
        if let body = bench.arguments.body { return UploadClient(bench, body) }
        switch bench.style.way {
        case .completion, .network, .six: return CompletionClient(bench)
        case .delegate, .networkDelegate: return DelegateClient(bench)
        case .discard: return DelegateClient(bench, hearsData: false)
        case .async: return AsyncClient(bench)
        case .executor: return ExecutorClient(bench)
        case .manager: return ManagerClient(bench)
        case .managerQueue, .managerBlocked:
            return ManagerClient(bench, queue: DispatchQueue(label: "bench.completions"))
        case .managerAsync: return ManagerAsyncClient(bench)
        case .operation: return OperationClient(bench)
        case .url: return CompletionClient(bench, .own)
        case .other: return CompletionClient(bench, .other)
        case .connection: return ConnectionClient(bench)
        case .blocking: return BlockingClient(bench)
        }
    }

    private static func messageClient(_ bench: Bench, _ size: Int) -> any Client {
        switch bench.style.way {
        case .completion, .network: return MessageClient(bench, size)
        case .async: return AsyncMessageClient(bench, size)
        case .executor: return AsyncMessageClient(bench, size, on: URLSession.networkExecutor)
        case let way: bench.arguments.refuse("--message goes with completion, network, async and executor, not \(way)")
        }
    }

    private static func knowingClient(_ bench: Bench, _ knowledge: Knowledge) -> any Client {
        switch knowledge.kind {
        case .stored: OpeningClient(bench, knowledge)
        case .beside: BesideClient(bench, knowledge)
        case .idle: IdleHostsClient(bench, knowledge)
        case .nothing, .hsts, .credentials, .cookies, .overrides, .pins: NamedClient(bench, knowledge)
        }
    }

    private static func floodedClient(_ bench: Bench, _ flood: String) -> any Client {
        switch bench.style.way {
        case .completion, .network: return FloodedClient(bench, flood)
        case let way: bench.arguments.refuse("--flood goes with completion and network, not \(way)")
        }
    }
}
