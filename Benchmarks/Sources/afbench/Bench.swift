import AFNetworking
import AFURLSession
import Foundation
import Harness

/// What all ways of loading share.
struct Bench: Sendable {
    let arguments: Arguments
    let style: Style
    /// What the session knows of other hosts.
    let knowledge: Knowledge?

    init(arguments: Arguments, style: Style) {
        (self.arguments, self.style) = (arguments, style)
        knowledge = Knowledge(arguments)
    }

    func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
    }

    func configuration() -> URLSessionConfiguration {
        let configuration = style.isCached ? URLSessionConfiguration.default : .ephemeral
        if !style.isCached { configuration.urlCache = nil }
        if !style.keepsSixConnections {
            configuration.httpMaximumConnectionsPerHost = arguments.isPipelined ? 1 : arguments.concurrency
        }
        configuration.httpShouldUsePipelining = arguments.isPipelined
        configuration.callsBackOnNetworkThread = style.callsBackOnNetworkThread
        if arguments.isIdle { keepConnections(configuration) }
        if arguments.closes { configuration.maximumConnectionAge = 0 }
        configuration.tls.resumesSessions = arguments.resumes
        do {
            try knowledge?.apply(to: configuration, reaching: arguments.url)
            try trust(configuration)
        } catch {
            arguments.refuse("\(error)")
        }
        return configuration
    }

    private func keepConnections(_ configuration: URLSessionConfiguration) {
        configuration.maximumIdleConnections = arguments.concurrency
        configuration.idleConnectionTimeout = 900
        configuration.timeoutIntervalForRequest = 600
    }

    private func trust(_ configuration: URLSessionConfiguration) throws {
        guard let path = arguments.ca else { return }
        configuration.tls.anchors = try .file(path)
        guard let pins = arguments.pins else { return }
        let pinned = try Certificate.certificates(atPath: path).prefix(1)
        configuration.tls.evaluator = SecurityPolicy(
            pinningMode: pins == .publicKey ? .publicKey : .certificate,
            certificates: Array(pinned)
        )
    }

    /// Takes the shared cache away if the style has none: connections and operations have no other.
    func chooseSharedCache() {
        if !style.isCached { URLCache.shared = URLCache(memoryCapacity: 0, diskCapacity: 0) }
    }

    /// Ends the program unless the request was answered with 200.
    func check(_ response: URLResponse?, _ error: (any Error)?) {
        guard error == nil, let http = response as? HTTPURLResponse, http.statusCode == 200 else {
            arguments.fail("a request failed: \(error.map { "\($0)" } ?? "\(String(describing: response))")")
        }
    }
}
