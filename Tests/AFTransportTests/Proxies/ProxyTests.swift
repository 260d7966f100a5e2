@testable import AFTransport

/// The way through a proxy.
enum ProxyTests {}

/// Transfers by a proxy that plays scripts.
final class TransferBench: LayeredBench {
    let world = TransferWorld()
    let log = LayeredServer.Log()
    let direct = LayeredServer.Log()
    var system: VirtualSystem { world }

    /// - Parameters:
    ///   - url: The proxy for everything.
    ///   - change: What else the configuration says.
    init(_ url: String, _ change: (inout ProxyConfiguration) throws -> Void = { _ in }) throws {
        world.settings.proxies = ProxyConfiguration(try ProxyServer(url))
        try change(&world.settings.proxies)
    }

    init(_ change: (inout TransferWorld.Settings) throws -> Void) throws {
        try change(&world.settings)
    }

    func send(_ url: String, fields: [String: String] = [:]) -> TransferEvents { world.load(url, fields: fields) }

    func finish() -> [String] { world.finish() }
}
