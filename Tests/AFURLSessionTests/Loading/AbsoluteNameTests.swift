import AFWire

/// URLs whose host ends with a dot: the resolver and the server get the dot, and all else is as without it.
@Suite("Absolute names")
struct AbsoluteNameTests {
    /// A world in which the absolute name alone is known, and the server says what it was asked for.
    private func makeWorld() -> VirtualWorld {
        let world = VirtualWorld()
        world.respond("a.test.") { request, moment, client in
            guard moment == .complete else { return }
            let fields = ["Host", "Cookie", "Authorization"].map { request.headers.first($0) ?? "-" }
            let text = fields.joined(separator: " ") + " \(request.target)"
            let away = request.target == "/away" ? "302 Found\r\nLocation: next\r\n" : "200 OK\r\n"
            client.send(
                "HTTP/1.1 \(away)Set-Cookie: c=1; Domain=a.test\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
            )
        }
        return world
    }

    @Test func `T-TLS-44 the resolver is asked for the absolute name, and Host is that of the URL`() {
        let world = makeWorld()

        #expect(world.load("http://A.Test./x").body == "a.test. - - /x")

        #expect(world.resolver.names == ["a.test."])
        #expect(world.finish() == [])
    }

    @Test func `T-TLS-44 a redirect within the server keeps the dot`() {
        let world = makeWorld()

        #expect(world.load("http://a.test./away").body == "a.test. c=1 - /next")

        #expect(world.resolver.names == ["a.test."])
        #expect(world.finish() == [])
    }

    @Test func `T-TLS-44 connections and cookies are those of the name without the dot`() {
        let world = makeWorld()

        #expect(world.load("http://a.test./1").body == "a.test. - - /1")
        #expect(world.load("http://a.test/2").body == "a.test c=1 - /2")
        #expect(world.load("http://a.test.:80/3").body == "a.test. c=1 - /3")

        #expect(world.resolver.names == ["a.test."] && world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `a relative name is looked up as it is written`() {
        let world = makeWorld()

        #expect(world.load("http://a.test/").all == [.failed(.cannotFindHost)])

        #expect(world.resolver.names == ["a.test"])
        #expect(world.finish() == [])
    }
}
