import AFNetworkingTesting
import Foundation

/// What the library does, shown on servers of this process: `./dev demo`.
///
/// Every line that is printed comes from an exchange that has just taken place, and says no more than was checked.
/// Exits with 1 and says what was not as claimed, if anything was not.
@main struct Demo {
    static func main() async {
        let screen = Screen.standardOutput
        do {
            try await run(Site(), on: screen)
        } catch {
            screen.endBar()
            FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ site: Site, on screen: Screen) async throws {
        defer { site.stop() }
        let start = ContinuousClock.now
        let (claims, journal) = (Claims(), Journal())
        screen.say("swift-afnetworking with servers of this process, and certificates made just now", .bold)
        screen.say("")

        let exchanges = try Exchanges(site, screen, claims, journal)
        defer { exchanges.close() }
        try await exchanges.get()
        try await exchanges.post()
        try await exchanges.upload()
        try await exchanges.resumedDownload()
        try await exchanges.cacheHit()
        try await exchanges.events()
        try await exchanges.webSocket()

        let pinning = try Pinning(site, screen, claims, journal)
        defer { pinning.close() }
        try await pinning.pinnedGet()
        try await pinning.impostor()
        try await pinning.sameWithoutPins()

        try claims.check("no address but 127.0.0.1 was talked to", journal.remoteAddresses, is: ["127.0.0.1"])
        let connections = site.server.acceptedConnections + site.impostor.acceptedConnections
        let time = Screen.text(ContinuousClock.now - start)
        screen.say("")
        screen.say(
            "All as claimed: \(claims.count) checks, \(journal.count) tasks, \(connections) connections, "
                + "each to 127.0.0.1, in \(time).",
            .good
        )
    }
}
