import AFBase
import AFLoop
import AFTestSupport
import AFURLTypes
import AFVirtualWorld
import AFWire
import Foundation
import Testing

@testable import AFURLSession

extension DownloadTests {
    /// What may happen to a download at an unexpected moment, in virtual time.
    struct Orders {
        private static let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\n"

        private let url = URL(string: "http://api.test/") ?? URL(fileURLWithPath: "/")
        private let folder: ScratchFolder
        private let outcomes = DownloadOutcomes()

        init() throws {
            folder = try ScratchFolder()
        }

        private func world(
            _ scripts: [ScriptStep]...,
            configure: (URLSessionConfiguration) -> Void = { _ in }
        ) -> VirtualWorld {
            let world = VirtualWorld()
            world.configure {
                settings($0)
                configure($0)
            }
            world.scripts("api.test", scripts)
            return world
        }

        private func settings(_ configuration: URLSessionConfiguration) {
            configuration.temporaryFolder = folder.url
            configuration.timeoutIntervalForRequest = 5
            configuration.timeoutIntervalForResource = 30
        }

        private func run(_ world: VirtualWorld, untilOutcome count: Int) -> DownloadOutcome? {
            world.run { outcomes.all.value.count == count }
            return outcomes.all.value.last
        }

        /// A request whose head is as long as a head may be.
        private func longestRequest(in session: URLSession) -> URLRequest {
            var request = URLRequest(url: url)
            var counts = 200_000..<RequestSyntax.maximumHeadLength
            while counts.count > 1 {
                let middle = counts.lowerBound + counts.count / 2
                request.setValue(String(repeating: "x", count: middle), forHTTPHeaderField: "X-Longer")
                let fits = (try? RequestFreezer.freeze(request, defaults: session.headers)) != nil
                counts = fits ? middle..<counts.upperBound : counts.lowerBound..<middle
            }
            request.setValue(String(repeating: "x", count: counts.lowerBound), forHTTPHeaderField: "X-Longer")
            return request
        }

        @Test func `T-FIL-10 a whole is not written behind a part whose rest cannot be asked for`() throws {
            let request = ScriptStep.expectBytes(RequestSyntax.maximumHeadLength)
            let scripts = ["all", "all of it"].map { [request, .reply(Self.head + $0), .close] }
            let world = world(scripts[0], scripts[1]) {
                $0.httpAdditionalHeaders = ["X-Long": String(repeating: "x", count: 2000)]
            }
            let longest = longestRequest(in: world.session)
            world.session.downloadTask(with: longest, completionHandler: outcomes.handler).resume()
            let data = try #require(run(world, untilOutcome: 1)?.resumeData)
            let rest = try ResumeRecord(data).restRequest(of: longest)
            #expect(throws: RequestRejection.self) {
                try RequestFreezer.freeze(rest, defaults: world.session.headers)
            }

            world.session.downloadTask(withResumeData: data, completionHandler: outcomes.handler).resume()

            #expect(run(world, untilOutcome: 2)?.contents == Data("all of it".utf8))
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }
    }
}
