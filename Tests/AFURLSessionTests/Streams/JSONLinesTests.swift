@testable import AFURLSession

/// Values in JSON, one on each line.
struct JSONLinesTests {
    private struct Item: Decodable, Equatable { let id: Int }

    let server: TestServer
    let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    private func items(_ path: String) -> JSONLines<Item> {
        session.jsonLines(for: URLRequest(url: server.url(path)))
    }

    @Test func `each line is a value, when it has arrived`() async throws {
        server.script(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 31\r\n\r\n{\"id\":1}\n"),
            .pause(until: "first"),
            .send("\r\n \n{\"id\":2}\r\n{\"id\":3}")
        )

        var items = items("/x").makeAsyncIterator()
        #expect(try await items.next() == Item(id: 1))
        server.signal("first")
        #expect(try await items.next() == Item(id: 2))
        #expect(try await items.next() == Item(id: 3))
        #expect(try await items.next() == nil)
        #expect(try await items.next() == nil)
        #expect(server.requests.first?.headers["Accept"]?.hasPrefix("application/x-ndjson") == true)
    }

    @Test func `a line that is no value throws, and ends the load`() async throws {
        server.route("GET", "/x", ServerReply.text("{\"id\":1}\n{\"id\":x}\n{\"id\":3}\n").stalling(after: 20))

        var items = items("/x").makeAsyncIterator()
        #expect(try await items.next() == Item(id: 1))
        await #expect(throws: DecodingError.self) { try await items.next() }
        #expect(try await items.next() == nil)
        try await eventually { server.openConnections == 0 }
    }

    @Test func `a status other than 2xx is an error that names it`() async throws {
        server.route("GET", "/x", .json("{\"id\":1}").status(429))

        var items = items("/x").makeAsyncIterator()
        let error = await #expect(throws: URLError.self) { try await items.next() }

        #expect(error?.code == .badServerResponse && error?.loadFailure?.message.contains("429") == true)
        #expect(try error?.refusedResponse?.decode(Item.self) == Item(id: 1))
        #expect(try await items.next() == nil)
    }

    @Test func `a line that cannot be read is named by its number`() async throws {
        server.route("GET", "/type", .text("{\"id\":1}\n\n{\"id\":\"x\"}\n"))
        server.route("GET", "/key", .text("{\"id\":1}\n{}\n"))
        server.route("GET", "/bytes", .data(Data("{\"id\":1}\n{\"id\":1,\"a\":\"".utf8) + [0xFF] + Data("\"}\n".utf8)))

        for (path, number) in [("/type", 3), ("/key", 2), ("/bytes", 2)] {
            var items = items(path).makeAsyncIterator()
            #expect(try await items.next() == Item(id: 1))
            let error = await #expect(throws: DecodingError.self) { try await items.next() }
            #expect("\(String(describing: error))".contains("Line \(number)"), "\(path): \(String(describing: error))")
        }
    }

    @Test func `the lines of a response are values after a look at its status`() async throws {
        server.route("GET", "/x", .text("{\"id\":1}\n{\"id\":2}\n").status(404))

        let (bytes, _) = try await session.bytes(from: server.url("/x"))
        var items: [Item] = []
        for try await item in bytes.jsonLines(of: Item.self) { items.append(item) }

        #expect(items == [Item(id: 1), Item(id: 2)])
    }

    @Test func `a line has a limit, and a broken body is an error`() async throws {
        server.route("GET", "/long", .text(String(repeating: "1", count: 1000)))
        server.route("GET", "/cut", ServerReply.text("{\"id\":1}\n{\"id\":2}\n").closing(after: 12))

        let long = session.jsonLines(of: Int.self, for: URLRequest(url: server.url("/long")), limit: 100)
        let error = await #expect(throws: URLError.self) { for try await _ in long {} }
        #expect(error?.code == .dataLengthExceedsMaximum)
        var cut = items("/cut").makeAsyncIterator()
        #expect(try await cut.next() == Item(id: 1))
        await #expect(throws: URLError.self) { try await cut.next() }
    }
}
