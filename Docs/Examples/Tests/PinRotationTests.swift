import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@testable import PinRotation

@Suite struct PinRotationTests {
    @Test func `the backup takes over when the key changes, and the lost key is of no use any more`() async throws {
        let site = try Site()
        let shipped = try Release(site, pins: [site.first], backups: [site.second])
        let next = try Release(site, pins: [site.second], backups: [site.third])
        defer {
            shipped.close()
            next.close()
        }

        #expect(await shipped.ask() == "the server answers 200")
        // Before its time: the server has the first key still.
        #expect(await next.ask() == "refused: pins for localhost")
        try site.use(site.second)
        #expect(await shipped.ask() == "the server answers 200")
        #expect(await next.ask() == "the server answers 200")
        try site.use(site.third)
        #expect(await shipped.ask() == "refused: pins for localhost")
        #expect(await next.ask() == "the server answers 200")
    }

    @Test func `a set that only reports refuses nothing and tells the pin that the server has`() async throws {
        let site = try Site()
        let reports = Reports()
        let release = try Release(site, pins: [CertificateKey()], isReportOnly: true)
        release.policy.reportHandler = { reports.add($0) }
        defer { release.close() }

        #expect(await release.ask() == "the server answers 200")
        let pin = PublicKeyPin(publicKeyBytes: site.first.publicKeyBytes)
        #expect(await reports.next() == "localhost has \(pin)")
    }

    @Test func `lint has words for a set without a backup, and none for one with a backup`() throws {
        let site = try Site()
        let risky = try Release(site, pins: [site.first])
        let shipped = try Release(site, pins: [site.first], backups: [site.second])
        defer {
            risky.close()
            shipped.close()
        }

        #expect(risky.policy.lint(baseURL: site.url).map(\.kind) == [.noBackupPin])
        #expect(shipped.policy.lint(baseURL: site.url).isEmpty)
    }

    @Test func `the program shows all of it`() async throws {
        let run = try await Example.run("PinRotation")

        #expect(run.code == 0, "\(run.output)")
        #expect(run.lines.count { $0 == "   the server answers 200" } == 4, "\(run.output)")
        #expect(run.lines.last == "   refused: pins for localhost")
        let lint = "   lint: warning: localhost: no backup pin: if the key is lost, every user is cut off (noBackupPin)"
        #expect(run.lines.contains(lint), "\(run.output)")
    }
}
