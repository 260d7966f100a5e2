import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private let preloaded = Heard<String>()
private func preload(_ url: URL) { preloaded.add(url.path) }

final class Preloading: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        for link in response.links where link.relations.contains("preload") { preload(link.url) }
    }
}

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

    @Test func `hints come first, as on the page`() async throws {
        let hint: HeaderFields = ["Link": "</style.css>; rel=preload"]
        site.server.route("GET", "/page", ServerReply.text("page").interim(103, hint))
        let (session, request) = (site.session, URLRequest(url: site.url("/page")))

        let (data, response) = try await session.data(for: request, delegate: Preloading())

        #expect(preloaded.all == ["/style.css"])
        #expect(data.count == 4 && (response as? HTTPURLResponse)?.precedingResponses.map(\.statusCode) == [103])
    }

    @Test func `a failure says what the server says, as on the page`() async throws {
        struct OutOfCredit: Decodable { let missing: Int }
        let document = """
            {"type": "https://shop.example/credit", "title": "Out of credit", "detail": "It costs 50.",
            "missing": 20}
            """
        let reply = ServerReply.text(document).status(403).header("Content-Type", "application/problem+json")
        site.server.route("POST", "/orders", reply)
        site.server.route("GET", "/events", reply)
        let (manager, order) = (site.manager, ["item": 1])
        var shown: [Int] = []
        func show(missing: Int) { shown.append(missing) }
        var printed = ""
        func print(_ error: RequestFailure) { printed = "\(error)" }

        do {
            try await manager.post("orders", parameters: order)
        } catch {
            print(error)  // status: Request failed: forbidden (403). The server says: "Out of credit: It costs 50."
            guard let problem = error.problem, problem.type == "https://shop.example/credit" else { throw error }
            show(missing: try problem.decode(OutOfCredit.self).missing)
        }

        #expect(shown == [20])
        #expect(printed == #"status: Request failed: forbidden (403). The server says: "Out of credit: It costs 50.""#)
        let refusal = await #expect(throws: URLError.self) {
            for try await _ in site.session.events(from: site.url("/events")) {}
        }
        #expect(refusal?.refusedResponse?.problem?.title == "Out of credit")
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
