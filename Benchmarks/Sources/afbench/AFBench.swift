import AFURLSession
import Foundation
import Harness

@main
struct AFBench {
    static func main() {
        let arguments = Arguments()
        let style = arguments.namedStyle
        arguments.refuseWhatIsMissing()
        let bench = Bench(arguments, callsBackOnNetworkThread: style == .network || style == .networkDelegate)
        if let out = arguments.out {
            arguments.measure(DownloadClient(bench, out), named: style.name)
            return
        }
        switch style {
        case .completion, .network: arguments.measure(CompletionClient(bench), named: style.name)
        case .delegate, .networkDelegate: arguments.measure(DelegateClient(bench), named: style.name)
        case .discard: arguments.measure(DiscardingClient(bench), named: style.name)
        case .async: arguments.measure(AsyncClient(bench), named: style.name)
        case .executor: arguments.measure(ExecutorClient(bench), named: style.name)
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

    fileprivate func refuseWhatIsMissing() {
        if isPipelined { refuse("this client does not pipeline: leave --pipeline away") }
        if body != nil { refuse("this client has no upload tasks: leave --upload and --upload-stream away") }
    }
}
