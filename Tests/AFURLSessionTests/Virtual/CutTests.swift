@Suite("Messages that break off")
struct CutTests {
    enum Ending: CaseIterable {
        case close, reset

        var step: ServerStep {
            switch self {
            case .close: .close
            case .reset: .reset
            }
        }
    }

    enum Framing: CaseIterable {
        case length, chunks

        var message: String {
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nX: \(String(repeating: "x", count: 150))\r\n"
            let body = String(repeating: "b", count: 60)
            return switch self {
            case .length: head + "Content-Length: 60\r\n\r\n" + body
            case .chunks:
                head
                    + "Transfer-Encoding: chunked\r\n\r\n14\r\n\(body.prefix(20))\r\n28\r\n\(body.prefix(40))\r\n0\r\n\r\n"
            }
        }
    }

    @Test(arguments: Framing.allCases, Ending.allCases)
    func `T-MSG-06 a message that breaks off at any byte is a lost connection, and is not kept`(
        framing: Framing,
        ending: Ending
    ) throws {
        let message = framing.message
        let request = URLRequest(url: try #require(URL(string: "http://api.test/")))
        for length in 0..<message.utf8.count {
            let world = VirtualWorld()
            let part = String(decoding: message.utf8.prefix(length), as: UTF8.self)
            world.script("api.test", .expectRequest, .reply(part), ending.step)

            let events = world.load("http://api.test/")
            world.run()

            #expect(events.all.last == .failed(.networkConnectionLost), "cut at \(length)")
            #expect(events.record.completions == 1 && !events.all.contains(.finished))
            #expect(world.session.configuration.urlCache?.cachedResponse(for: request) == nil, "cut at \(length)")
            #expect(world.finish() == [])
        }
    }

    @Test(arguments: Framing.allCases)
    func `a message that ends where it says is whole, and kept`(framing: Framing) throws {
        let request = URLRequest(url: try #require(URL(string: "http://api.test/")))
        let world = VirtualWorld()
        world.script("api.test", .expectRequest, .reply(framing.message), .close)

        let events = world.load("http://api.test/")
        world.run()

        #expect(events.all == [.response(200), .data(60), .finished])
        #expect(world.session.configuration.urlCache?.cachedResponse(for: request)?.data.count == 60)
        #expect(world.finish() == [])
    }
}
