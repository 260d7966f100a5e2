import Foundation
import FoundationNetworking
import Harness

@main
struct FNBench {
    static func main() {
        let arguments = Arguments()
        arguments.refuseWhatIsMissing()
        if arguments.dropsBodies {
            arguments.measure(DroppingClient(arguments), named: "fnbench")
        } else {
            arguments.measure(FoundationClient(arguments), named: "fnbench")
        }
    }
}

extension URLSessionConfiguration {
    /// Without a cache and without cookies, as the others are.
    static func plain(_ arguments: Arguments) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = arguments.concurrency
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}

extension Arguments {
    /// A run of a few requests is one of large bodies. A completion handler would get each of them as one value, which
    /// nobody would want of a GiB; a delegate drops them as they arrive.
    fileprivate var dropsBodies: Bool {
        total < 20 && warm == 0 && out == nil && body == nil && !isIdle && !collects
    }

    fileprivate func refuseWhatIsMissing() {
        if let style { refuse("there is one style only: remove --style \(style)") }
        if isPipelined { refuse("FoundationNetworking does not pipeline: leave --pipeline away") }
        if messageSize != nil { refuse("WebSockets are measured with others: leave --message away") }
        if pins != nil { refuse("FoundationNetworking has no pins: leave --pins away") }
        if resumes { refuse("FoundationNetworking never resumes a TLS session: leave --resume away") }
        if let ca, !SystemTrust.consists(of: ca) { refuse(SystemTrust.advice(ca)) }
    }
}
