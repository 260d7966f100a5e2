import AFNetworkingTesting
import Foundation
import Testing

@testable import LogShipper

@Suite struct LogShipperTests {
    @Test func `all lines arrive, in fewer bytes, with their number behind them`() async throws {
        let run = try await Example.run("LogShipper")

        #expect(run.code == 0, "\(run.output)")
        #expect(run.lines.prefix(2) == ["collector: reading gzip", "collector: keep them coming"])
        let sizes = try #require(run.output.firstMatch(of: /20000 lines, (\d+) bytes, sent as (\d+)/))
        let (content, sent) = (try #require(Int(sizes.1)), try #require(Int(sizes.2)))
        #expect(content > 900_000 && sent < content / 5)
        #expect(run.lines.last == "the collector got \(sent) bytes, and X-Lines: 20000")
    }

    @Test func `a collector that is not there is an error in words`() async throws {
        let run = try await Example.run("LogShipper", ["http://127.0.0.1:1/logs"])

        #expect(run.code == 1 && run.output.hasPrefix("the log was not sent: "), "\(run.output)")
    }
}
