import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about what answers say.
@Suite struct AnswersTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    private func response(to path: String) async throws -> HTTPURLResponse {
        let (_, response) = try await site.session.data(from: site.url(path))
        return try #require(response as? HTTPURLResponse)
    }

    @Test func `links are read as on the page`() async throws {
        let links = "<de>; rel=alternate; title*=UTF-8''%c3%9cber, </help>; rel=help, </x>; rel=help; anchor=\"/y\""
        site.server.route("GET", "/about/en", ServerReply.text("").header("Link", links))
        let response = try await response(to: "/about/en")
        var shown: [String] = []
        func show(_ url: URL, title: String) { shown.append("\(url.path) \(title)") }

        for link in response.links where link.relations.contains("alternate") {
            show(link.url, title: link.title ?? "")
        }
        let manual = response.link("help")

        #expect(shown == ["/about/de Über"] && manual?.path == "/help")
    }

    @Test func `pages come as on the page`() async throws {
        typealias Item = Int
        site.server.route("GET", "/items", ServerReply.json("[1, 2]").header("Link", "</more>; rel=next"))
        site.server.route("GET", "/more", ServerReply.json("[3]"))
        let (session, manager, decoder) = (site.session, site.manager, JSONDecoder())
        let request = URLRequest(url: site.url("/items"))
        var all: [Item] = []
        func add(_ items: [Item]) { all += items }

        for try await (data, _) in session.pages(of: request) { add(try decoder.decode([Item].self, from: data)) }
        for try await items in try manager.pages("items", parameters: ["size": 100], decode: [Item].self) { add(items) }

        #expect(all == [1, 2, 3, 1, 2, 3])
        #expect(site.server.requests.map(\.query) == [nil, nil, "size=100", nil])
    }

    @Test func `structured fields are read as on the page`() async throws {
        let reply = ServerReply.text("").header("Priority", "u=5, i")
            .header("Cache-Status", "edge;hit").header("Cache-Status", "\"Origin A\";fwd=miss")
        site.server.route("GET", "/fields", reply)
        let response = try await response(to: "/fields")
        var shown: [String] = []
        func show(_ urgency: Int) { shown.append("\(urgency)") }
        func show(_ cache: StructuredValue?, isHit: Bool) { shown.append("\(cache == .token("edge")) \(isHit)") }

        let priority = response.structuredDictionary(forHTTPHeaderField: "Priority")
        if case .integer(let urgency)? = priority?["u"]?.value { show(urgency) }
        for cache in response.structuredList(forHTTPHeaderField: "Cache-Status") ?? [] {
            show(cache.value, isHit: cache.parameters["hit"] == .boolean(true))
        }

        #expect(shown == ["5", "true true", "false false"])
    }

    @Test func `structured fields are written as on the page`() async throws {
        var request = URLRequest(url: site.url("/get"))

        let priority: StructuredDictionary = ["u": .value(.integer(1)), "i": .value(.boolean(true))]
        request.setValue(try priority.serialized(), forHTTPHeaderField: "Priority")

        _ = try await site.session.data(for: request)
        #expect(site.server.requests.last?.headers["Priority"] == "u=1, i")
    }
}
