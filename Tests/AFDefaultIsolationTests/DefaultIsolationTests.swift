import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

// This module's default isolation is the main actor, as Xcode sets it for new programs: its types, and their conformances,
// are the main actor's.

/// A type whose conformance is the main actor's.
struct Author: Codable, Equatable {
    var name: String
}

/// A form, whose conformance is the main actor's, too.
struct Search: Encodable {
    var name: String
}

/// A manager of a program's own: as its superclass it is of no actor.
nonisolated final class AuthorClient: HTTPSessionManager, @unchecked Sendable {}

/// A page of a program: of the main actor, without a word about it.
final class AuthorPage {
    var author: Author?
    var object: Any?
    var errorText = ""
    let manager: HTTPSessionManager

    init(_ manager: HTTPSessionManager) { self.manager = manager }

    func load() async throws {
        author = try await manager.get("author", decode: Author.self)
    }

    func loadWithClosures() {
        manager.get("author", parameters: nil) { task, object in
            self.object = object
        } failure: { task, error in
            self.errorText = error.localizedDescription
        }
    }
}

struct DefaultIsolationTests {
    private let server: TestServer
    private let manager: HTTPSessionManager

    init() throws {
        server = try TestServer()
        // Long enough not to be decoded at once.
        let padding = String(repeating: " ", count: 5_000)
        server.route("GET", "/author", .json("{\"name\": \"Anna\"\(padding)}"))
        server.route("PUT", "/author", .json("{\"name\": \"Anna\"}"))
        server.route("GET", "/none", ServerReply(status: 204))
        server.route("GET", "/refused", ServerReply.json("{\"name\": \"Berta\"}").status(404))
        manager = HTTPSessionManager(baseURL: server.url("/"), sessionConfiguration: .ephemeral)
    }

    @Test func `a value whose conformance is the main actor's is decoded there`() async throws {
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        let page = AuthorPage(manager)

        try await page.load()
        let put = try await manager.put("author", parameters: Search(name: "Anna"), decode: Author.self)

        #expect(page.author == Author(name: "Anna"))
        #expect(put == Author(name: "Anna"))
    }

    @Test func `a manager of one's own decodes on the caller's actor`() async throws {
        let client = AuthorClient(baseURL: server.url("/"), sessionConfiguration: .ephemeral)
        defer { client.invalidateSessionCancelingTasks(true, resetSession: false) }

        #expect(try await client.get("author", decode: Author.self) == Author(name: "Anna"))
    }

    @Test func `what is wrong with a response is told as before`() async throws {
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }

        let none = await #expect(throws: RequestFailure.self) { try await manager.get("none", decode: Author.self) }
        let wrong = await #expect(throws: RequestFailure.self) { try await manager.get("author", decode: [Int].self) }
        let refused = await #expect(throws: RequestFailure.self) {
            try await manager.get("refused", decode: Author.self)
        }

        #expect(none?.kind == .decoding && none?.statusCode == 204)
        #expect(wrong?.kind == .decoding)
        #expect(wrong?.error.localizedDescription.contains("Could not decode Array<Int>") == true)
        #expect(refused?.kind == .status && refused?.object as? Author == Author(name: "Berta"))
    }

    @Test func `a closure of a page assigns to the page`() async throws {
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        let page = AuthorPage(manager)

        page.loadWithClosures()
        let end = ContinuousClock.now + .seconds(60)
        while page.object == nil, page.errorText.isEmpty, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(2))
        }

        #expect((page.object as? [String: String])?["name"] == "Anna")
    }
}
