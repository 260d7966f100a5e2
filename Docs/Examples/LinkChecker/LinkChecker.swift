import AFNetworking
import AFNetworkingTesting
import Foundation

/// Checks the links of a site: `swift run LinkChecker URL [REQUESTS IN FLIGHT]`.
///
/// Eight requests at a time, unless told otherwise: a hundred are for servers of your own. Without arguments it checks
/// a site of its own, with a hundred in flight. Exits with 1 if a link is broken.
@main struct LinkChecker {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let start = arguments.first else { return try await rehearse() }
        let inFlight = arguments.dropFirst().first.map { Int($0) ?? 0 } ?? 8
        guard let url = URL(string: start), url.host() != nil, 1...100 ~= inFlight, arguments.count <= 2 else {
            print("usage: LinkChecker URL [REQUESTS IN FLIGHT, from 1 to 100]")
            exit(2)
        }
        let report = await Crawl(inFlight: inFlight).check(from: url)
        tell(report)
        exit(report.broken.isEmpty ? 0 : 1)
    }

    private static func tell(_ report: Crawl.Report) {
        for link in report.broken { print(link) }
        print("\(report.checked) links checked, \(report.broken.count) broken, \(report.elsewhere) to other hosts")
        if report.leftOut > 0 { print("\(report.leftOut) more were left out") }
    }

    private static func rehearse() async throws {
        let site = try PracticeSite(pages: 300)
        let start = ContinuousClock.now
        let report = await Crawl(inFlight: 100).check(from: site.server.url("/"))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        tell(report)
        print("it took \(String(format: "%.2f", seconds)) s, and the site had \(site.mostAtOnce) visitors at once")
    }
}

/// A site with some broken links.
struct PracticeSite {
    let server: TestServer
    private let crowd: Crowd

    /// How many requests were being answered at a time.
    var mostAtOnce: Int { crowd.most }

    /// - Parameters:
    ///   - pages: How many pages the first one links to.
    ///   - count: So many visitors have to be there before the first of them is answered.
    init(pages: Int, crowd count: Int = 1) throws {
        let crowd = Crowd(waitingFor: count)
        self.crowd = crowd
        server = try TestServer()
        let links = (1...pages).map { "<a href=\"/pages/\($0)\">\($0)</a>" }.joined(separator: "\n")
        let others = #"<a href="/missing?a=1&amp;b=2">x</a> <img src='/logo.png'> <a href="https://example.com/">y</a>"#
        server.route("GET", "/", .text("<html>\n\(links)\n\(others)\n</html>", type: "text/html"))
        server.route("GET", "/logo.png", .status(410))
        server.route("GET", "/pages/:number") { request in
            crowd.visit()
            let isCut = request.parameters["number"] == "13"
            return isCut ? .text("half").closing(after: 2) : .text("<a href='/#top'>up</a>", type: "text/html")
        }
    }
}

/// Counts who is there. Each visitor stays for a twentieth of a second.
private final class Crowd: @unchecked Sendable {
    private let lock = NSCondition()
    private let wanted: Int
    private var visitors = 0
    private var record = 0

    init(waitingFor count: Int) {
        wanted = count
    }

    var most: Int { lock.withLock { record } }

    func visit() {
        lock.withLock {
            visitors += 1
            record = max(record, visitors)
            lock.broadcast()
            let limit = Date(timeIntervalSinceNow: 300)
            while record < wanted, lock.wait(until: limit) {}
        }
        Thread.sleep(forTimeInterval: 0.05)
        lock.withLock { visitors -= 1 }
    }
}
