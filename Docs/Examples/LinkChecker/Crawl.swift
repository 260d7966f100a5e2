import AFNetworking
import Foundation

/// Follows the links of a site, and finds those that lead nowhere.
///
/// ```swift
/// let report = await Crawl(inFlight: 8).check(from: start)
/// for link in report.broken { print(link) }
/// ```
struct Crawl: Sendable {
    struct BrokenLink: Equatable, Sendable, CustomStringConvertible {
        var url: URL
        /// The page that has the link.
        var page: URL
        var reason: String

        var description: String { "\(url.absoluteString), linked from \(page.path): \(reason)" }
    }

    struct Report: Sendable {
        var checked = 0
        var broken: [BrokenLink] = []
        /// Links to other hosts, which were left alone.
        var elsewhere = 0
        /// Links that were found and not followed any more, since there were enough.
        var leftOut = 0
    }

    /// Requests that are under way at a time, at most.
    var inFlight: Int
    /// Where to stop.
    var maximumLinks = 10_000
    private let configuration: URLSessionConfiguration

    init(inFlight: Int, configuration: URLSessionConfiguration = .ephemeral) {
        self.inFlight = inFlight
        self.configuration = configuration.copied()
        self.configuration.httpMaximumConnectionsPerHost = inFlight
        self.configuration.httpAdditionalHeaders = ["User-Agent": "LinkChecker (an example of swift-afnetworking)"]
        // A server that asks to be left alone for a while (429, 503) is.
        self.configuration.requestInterceptors = [RetryRules(maximumAttempts: 2)]
        // A page longer than that has no links that we want.
        self.configuration.maximumBodyInMemory = 4 << 20
    }

    func check(from start: URL) async -> Report {
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var report = Report()
        var known: Set<URL> = [start]
        var waiting = [Link(url: start, page: start)]
        await withTaskGroup(of: Visit.self) { visits in
            var running = 0
            while running > 0 || !waiting.isEmpty {
                while running < inFlight, let link = waiting.popLast() {
                    visits.addTask { await visit(link, session) }
                    running += 1
                }
                guard let done = await visits.next() else { break }
                running -= 1
                report.checked += 1
                if let reason = done.problem {
                    report.broken.append(BrokenLink(url: done.link.url, page: done.link.page, reason: reason))
                }
                for url in done.links where known.insert(url).inserted {
                    if url.host() != start.host() || url.port != start.port {
                        report.elsewhere += 1
                    } else if report.checked + running + waiting.count >= maximumLinks {
                        report.leftOut += 1
                    } else {
                        waiting.append(Link(url: url, page: done.link.url))
                    }
                }
            }
        }
        report.broken.sort { $0.url.absoluteString < $1.url.absoluteString }
        return report
    }

    // MARK: - One link

    private struct Link: Sendable {
        var url: URL
        var page: URL
    }

    private struct Visit: Sendable {
        var link: Link
        var problem: String?
        var links: [URL] = []
    }

    private func visit(_ link: Link, _ session: URLSession) async -> Visit {
        var request = URLRequest(url: link.url)
        // Pictures and archives have no links: their heads will do.
        let mayBePage = ["", "htm", "html"].contains(link.url.pathExtension.lowercased())
        request.httpMethod = mayBePage ? "GET" : "HEAD"
        do {
            let (body, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { return Visit(link: link, problem: "no HTTP") }
            guard 200..<300 ~= response.statusCode else {
                let words = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
                return Visit(link: link, problem: "\(response.statusCode) \(words)")
            }
            // What is elsewhere after a redirect is not ours to follow.
            guard let page = response.url, page.host() == link.url.host(), response.mimeType == "text/html" else {
                return Visit(link: link)
            }
            return Visit(link: link, links: Self.links(in: String(decoding: body, as: UTF8.self), of: page))
        } catch {
            return Visit(link: link, problem: error.localizedDescription)
        }
    }

    /// What `href` and `src` name, without fragments.
    static func links(in text: String, of page: URL) -> [URL] {
        text.matches(of: #/(?i)\b(?:href|src)\s*=\s*["']([^"'#]+)/#).compactMap { match in
            let link = String(match.1).replacingOccurrences(of: "&amp;", with: "&")
            guard let url = URL(string: link, relativeTo: page)?.absoluteURL else { return nil }
            return ["http", "https"].contains(url.scheme) ? url : nil
        }
    }
}
