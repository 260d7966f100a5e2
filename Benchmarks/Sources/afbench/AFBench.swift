import AFURLSession
import Foundation
import Harness

@main
struct AFBench {
    static func main() {
        let arguments = Arguments()
        let style = arguments.namedStyle
        let bench = Bench(arguments, callsBackOnNetworkThread: style == .network || style == .networkDelegate)
        arguments.measure(client(bench, style), named: style.name)
    }

    private static func client(_ bench: Bench, _ style: Style) -> any Client {
        if let out = bench.arguments.out { return DownloadClient(bench, out) }
        if let body = bench.arguments.body { return UploadClient(bench, body) }
        switch style {
        case .completion, .network: return CompletionClient(bench)
        case .delegate, .networkDelegate: return DelegateClient(bench)
        case .discard: return DelegateClient(bench, hearsData: false)
        case .async: return AsyncClient(bench)
        case .executor: return ExecutorClient(bench)
        case .manager: return ManagerClient(bench)
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
