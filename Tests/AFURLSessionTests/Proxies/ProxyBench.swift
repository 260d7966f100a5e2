import AFTLS

/// Requests through proxies, in a world of their own.
enum ProxyTests {}

/// Requests of a session by a proxy that plays scripts.
final class ProxyBench: LayeredBench {
    let world = VirtualWorld()
    let log = LayeredServer.Log()
    let direct = LayeredServer.Log()
    var system: VirtualSystem { world }

    /// - Parameters:
    ///   - url: The proxy for everything.
    ///   - change: What else the configuration says.
    init(_ url: String, _ change: (inout ProxyConfiguration) throws -> Void = { _ in }) throws {
        var proxies = ProxyConfiguration(try ProxyServer(url))
        try change(&proxies)
        world.configure { [proxies] in $0.proxies = proxies }
    }

    init(_ configure: (URLSessionConfiguration) -> Void) {
        world.configure(configure)
    }

    func send(_ url: String, fields: [String: String] = [:]) -> TaskEvents {
        let events = world.send("GET", url, fields: fields)
        world.run { events.isComplete }
        return events
    }

    func finish() -> [String] { world.finish() }
}

extension TaskEvents {
    var failure: LoadFailure? { error?.loadFailure }
    var phase: LoadFailure.Phase? { failure?.phase }
    var isRefusedByProxy: Bool { failure?.reason == .proxy && failure?.phase == .proxy }
}

/// What Basic authentication sends.
enum HTTPBasic {
    static func value(_ user: String, _ password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }
}
