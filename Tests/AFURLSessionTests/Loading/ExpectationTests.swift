import AFWire

@Suite("Asking before a body is sent")
struct ExpectationTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private let body = pattern(5000)

    private func world(
        above: Int64? = nil,
        timeout: Double? = nil,
        fields: [String: String] = [:]
    ) -> VirtualWorld {
        let world = VirtualWorld()
        world.configure { configuration in
            configuration.httpAdditionalHeaders = fields
            configuration.expectsContinueAbove = above
            if let timeout { configuration.continueTimeout = timeout }
        }
        return world
    }

    @Test func `T-MSG-39 an expectation of the session keeps the bodies of its requests back`() {
        let world = world(fields: ["Expect": "100-continue"])
        var expected: [String?] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head { return client.after(.milliseconds(10)) { $0.send("HTTP/1.1 100 Continue\r\n\r\n") } }
            expected.append(request.headers.first("Expect"))
            client.send(Self.plain)
        }
        let start = world.now

        let events = world.send("PUT", "http://api.test/", body: body)
        world.run { events.isComplete }
        #expect(start.duration(to: world.now) == .milliseconds(10))
        let bodiless = world.load("http://api.test/")

        #expect(events.all.last == .finished && bodiless.all.last == .finished)
        #expect(expected == ["100-continue", nil])
        #expect(world.finish() == [])
    }

    enum Asker: CaseIterable {
        case request, limit, session
    }

    @Test(arguments: Asker.allCases)
    func `T-MSG-40 after a 417 the request is sent once more without asking`(asker: Asker) {
        let own = ["expect": "100-Continue"]
        let world = world(above: asker == .limit ? 100 : nil, fields: asker == .session ? own : [:])
        var heads: [String?] = []
        var bodies: [Data] = []
        world.respond("api.test") { request, moment, client in
            if moment == .head {
                heads.append(request.headers.first("Expect"))
                if heads.count == 1 { client.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n") }
                return
            }
            bodies.append(Data(request.body))
            client.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        }

        let events = world.send("POST", "http://api.test/", body: body, fields: asker == .request ? own : [:])
        world.run { events.isComplete }

        #expect(events.all == [.response(417), .finished])
        #expect(heads.map { $0 != nil } == [true, false])
        #expect(bodies == [body])
        #expect(world.finish() == [])
    }

    @Test(arguments: [(4999, true), (5000, false), (nil, false)] as [(Int64?, Bool)])
    func `bodies above the limit are asked for`(above: Int64?, isAsked: Bool) {
        let world = world(above: above)
        var asked: [Bool] = []
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            asked.append(request.headers.first("Expect") == "100-continue")
            client.send(Self.plain)
        }

        let known = world.send("PUT", "http://api.test/", body: body)
        world.run { known.isComplete }
        var request = URLRequest("PUT", URL(fileURLWithPath: "/"))
        request.url = URL(string: "http://api.test/")
        request.httpBodyStream = InputStream(data: Data([1]))
        let unknown = world.session.dataTask(with: request)
        unknown.resume()
        world.run { unknown.state == .completed }
        let bodiless = world.load("http://api.test/")

        #expect(bodiless.all.last == .finished)
        #expect(asked == [isAsked, above != nil, false])
        #expect(world.finish() == [])
    }
}
