import AFNetworkingTesting
import AFTestFixtures
import AFTestSupport
import AFURLSession
import Foundation
import Testing

private let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
private let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

extension LoopbackTests {
    /// Messages that come when they should not, or do not come when they should.
    struct Timing {
        private let server: TestServer

        init() throws {
            server = try TestServer()
            server.route("GET", "/second", .text("second"))
            for method in ["POST", "PUT", "QUERY"] { server.route(method, "/second", .text("second")) }
        }

        // MARK: - Interim responses

        @Test func `T-MSG-37 more than 16 interim responses are refused`() async throws {
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17)
            server.script(.expectRequest, .send(interim), .stall)

            let outcome = try await URLSession.loopback().outcome(of: server.url())

            #expect(outcome.code == -1103 && outcome.reason == .limit)
            try await server.waitForEnd(ofConnection: 1)
        }

        @Test func `T-MSG-37 sixteen interim responses are let pass`() async throws {
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 16)
            server.script(.expectRequest, .send(interim + hello))

            #expect(try await URLSession.loopback().outcome(of: server.url()).text == "hello")
        }

        @Test func `T-MSG-37 interim heads count as heads`() async throws {
            let field = "X: " + String(repeating: "x", count: 60_000) + "\r\n"
            let interim = String(repeating: "HTTP/1.1 103 Early Hints\r\n\(field)\(field)\r\n", count: 12)
            server.script(.expectRequest, .send(interim), .stall)

            #expect(try await URLSession.loopback().outcome(of: server.url()).reason == .limit)
        }

        @Test func `T-MSG-38 T-MSG-39 interim responses are skipped and leave the next request its answer`()
            async throws
        {
            server.script(
                .expectRequest,
                .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"),
                .send("HTTP/1.1 199 Strange\r\nX-Early: 2\r\n\r\n" + hello),
                .serve
            )
            let session = URLSession.loopback()

            let first = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: server.url("/second"))

            #expect(first.text == "hello" && first.response?.value(forHTTPHeaderField: "X-Early") == nil)
            #expect(second.text == "second")
            #expect(server.acceptedConnections == 1)
        }

        @Test func `T-MSG-39 a 100 after the final response is no answer to the next request`() async throws {
            server.script(.expectRequest, .send(hello + "HTTP/1.1 100 Continue\r\n\r\n"), .stall)
            let session = URLSession.loopback()

            #expect(try await session.outcome(of: server.url()).text == "hello")
            #expect(try await session.outcome(of: server.url("/second")).text == "second")
            #expect(server.acceptedConnections == 2)
        }

        @Test func `T-MSG-41 an upgrade that the request did not ask for is refused`() async throws {
            server.script(.expectRequest, .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), .stall)

            let outcome = try await URLSession.loopback().outcome(of: server.url())

            #expect(outcome.code == -1017 && outcome.error?.loadFailure?.detail == .status)
            try await server.waitForEnd(ofConnection: 1)
        }

        // MARK: - Bytes that no request asked for

        @Test(arguments: [nil, 0, 1, 10, 50])
        func `T-MSG-42 a forged response on an idle connection is never delivered`(delay: Int?) async throws {
            // Nil: in the same segment as the response before it.
            let attack: [ScriptStep] =
                delay.map { [.send(hello), .pause(.milliseconds($0)), .send(evil)] } ?? [.send(hello + evil)]
            server.script(on: .connection(1), steps: [.expectRequest] + attack + [.stall])
            let session = URLSession.loopback()

            #expect(try await session.outcome(of: server.url()).text == "hello")
            // The forged bytes lie in our socket before the next request is made.
            let steps = attack.count + 1
            try await eventually { server.connections[0].completedSteps >= steps || server.connections[0].end != nil }
            let second = try await session.outcome(of: server.url("/second"))

            #expect(second.text == "second" && server.requests.last?.connection == 2)
            try await server.waitForEnd(ofConnection: 1)
        }

        @Test func `T-MSG-42 twenty requests racing with forged responses never get one before they ask`() async throws
        {
            for _ in 1...20 {
                let server = try TestServer()
                server.route("GET", "/second", .text("second"))
                server.script(on: .connection(1), .expectRequest, .send(hello), .send(evil), .shutdownWrite, .stall)
                let session = URLSession.loopback()

                _ = try await session.outcome(of: server.url())
                try await eventually { server.connections[0].completedSteps >= 4 || server.connections[0].end != nil }
                #expect(try await session.outcome(of: server.url("/second")).text == "second")
            }
        }

        @Test func `T-MSG-47 a 408 on an idle connection is closed silently`() async throws {
            server.script(
                on: .connection(1),
                .expectRequest,
                .send(hello),
                .send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                .stall
            )
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            try await server.waitForEnd(ofConnection: 1)

            #expect(try await session.outcome(of: server.url("/second")).text == "second")
        }

        @Test(arguments: ["GET", "PUT", "QUERY", "POST", "PATCH"])
        func `T-MSG-47 a 408 on a reused connection repeats what a server may get twice`(method: String) async throws {
            let late = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            server.script(on: .connection(1), .expectRequest, .send(hello), .expectRequest, .send(late), .close)
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: URLRequest(method, server.url("/second")))

            if method == "POST" || method == "PATCH" {
                #expect(second.status == 408 && server.acceptedConnections == 1)
            } else {
                #expect(second.text == "second" && server.acceptedConnections == 2)
            }
        }

        @Test func `T-MSG-47 a 408 on a fresh connection is the answer`() async throws {
            server.enqueue(.status(408), .status(408))
            let session = URLSession.loopback()

            #expect(try await session.outcome(of: server.url("/first")).status == 408)
            #expect(server.requests.count == 1)
        }

        // MARK: - Early answers

        @Test(arguments: [0, 1, 100_000], [200, 401, 413])
        func `T-MSG-43 an answer before the end of an upload is delivered`(read: Int, status: Int) async throws {
            for closes in [true, false] {
                let server = try TestServer()
                server.route("POST", "/second", .text("second"))
                let connection = closes ? "Connection: close\r\n" : ""
                let answer = "HTTP/1.1 \(status) X\r\n\(connection)Content-Length: 5\r\n\r\nearly"
                server.script(
                    on: .connection(1),
                    steps: [.expectHead, .receive(read), .send(answer)] + (closes ? [.close] : [.receive(64 << 20)])
                )
                let session = URLSession.loopback()

                let body = Data(count: 64 << 20)
                let first = try await session.outcome(of: URLRequest("POST", server.url(), body: body))
                let second = try await session.outcome(of: URLRequest("POST", server.url("/second"), body: Data([1])))

                #expect(first.status == status && first.text == "early", "\(first)")
                #expect(second.text == "second" && server.requests.last?.connection == 2)
                try await server.waitForEnd(ofConnection: 1)
                #expect(server.connections[0].bytesReceived < body.count)
            }
        }

        // MARK: - Cancelled and broken exchanges

        @Test func `T-MSG-44 the answer to a cancelled request reaches no other`() async throws {
            for sent in [
                "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", String(hello.dropLast()),
            ] {
                let server = try TestServer()
                server.route("GET", "/second", .text("second"))
                server.script(
                    on: .connection(1),
                    .expectRequest,
                    .send(sent),
                    .pause(until: "cancelled"),
                    .send(String(hello.dropFirst(sent.count))),
                    .stall
                )
                let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 1 }
                let outcomes = Outcomes()
                let task = session.dataTask(with: server.url("/first"), completionHandler: outcomes.handler)
                task.resume()
                try await server.waitForRequests(1)

                task.cancel()
                session.dataTask(with: server.url("/second"), completionHandler: outcomes.handler).resume()
                await session.settled()
                server.signal("cancelled")

                let all = try await outcomes.wait(for: 2)
                #expect(all.map(\.code) == [-999, nil] && all[1].text == "second")
                #expect(server.requests.last?.connection == 2)
            }
        }

        @Test(arguments: ["GET", "PUT", "DELETE", "HEAD"], [true, false])
        func `T-MSG-45 a reused connection that dies unanswered is replaced once`(
            method: String,
            resets: Bool
        ) async throws {
            server.route(method, "/again", .status(204))
            server.script(
                on: .connection(1),
                .expectRequest,
                .send(hello),
                .expectRequest,
                resets ? .reset : .close
            )
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: URLRequest(method, server.url("/again")))

            #expect(second.status == 204 && server.requests.last?.connection == 2)
            #expect(server.requests.filter { $0.path == "/again" }.count == 2)
        }

        @Test func `T-MSG-45 a second death is reported`() async throws {
            server.script(on: .connection(1), .expectRequest, .send(hello), .expectRequest, .close)
            server.script(on: .connection(2), .expectRequest, .close)
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: server.url("/again"))

            #expect(second.code == -1005 && server.acceptedConnections == 2)
        }

        @Test func `T-MSG-45 a fresh connection that dies is not replaced`() async throws {
            server.script(.expectRequest, .close)

            #expect(try await URLSession.loopback().outcome(of: server.url()).code == -1005)
            #expect(server.acceptedConnections == 1)
        }

        @Test func `T-MSG-45 a connection that began to answer is not replaced`() async throws {
            server.script(on: .connection(1), .expectRequest, .send(hello), .expectRequest, .send("HTTP/1.1 "), .close)
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            let second = try await session.outcome(of: server.url("/again"))

            #expect(second.code == -1005 && server.acceptedConnections == 1)
        }

        @Test func `T-MSG-45 an idle connection closed at any moment costs no request`() async throws {
            for round in 1...20 {
                let server = try TestServer()
                server.route("GET", "/second", .text("second"))
                let ending: ScriptStep = round.isMultiple(of: 2) ? .reset : .close
                let pause = ScriptStep.pause(.microseconds(round * 20))
                server.script(on: .connection(1), .expectRequest, .send(hello), pause, ending)
                let session = URLSession.loopback()

                _ = try await session.outcome(of: server.url())

                #expect(try await session.outcome(of: server.url("/second")).text == "second")
            }
        }

        @Test(arguments: [true, false])
        func `T-MSG-46 a POST is never sent twice`(resets: Bool) async throws {
            server.script(
                on: .connection(1),
                .expectRequest,
                .send(hello),
                .expectRequest,
                resets ? .reset : .close
            )
            let session = URLSession.loopback()

            _ = try await session.outcome(of: server.url())
            let outcome = try await session.outcome(of: URLRequest("POST", server.url("/once"), body: Data([1, 2])))

            #expect(outcome.code == -1005 && outcome.reason == .lost)
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            #expect(server.acceptedConnections == 1)
        }

        // MARK: - Half-closed peers

        @Test func `T-MSG-50 a peer that ends in the middle of a body is noticed`() async throws {
            server.script(.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .shutdownWrite, .stall)

            let outcome = try await URLSession.loopback().outcome(of: server.url())

            #expect(outcome.code == -1005 && outcome.error?.loadFailure?.detail == .truncated)
            try await server.waitForEnd(ofConnection: 1)
        }

        @Test func `T-MSG-50 a peer that ends after its response is not used again`() async throws {
            server.script(on: .connection(1), .expectRequest, .send(hello), .shutdownWrite, .stall)
            let session = URLSession.loopback()

            #expect(try await session.outcome(of: server.url()).text == "hello")
            try await server.waitForEnd(ofConnection: 1)
            #expect(try await session.outcome(of: server.url("/second")).text == "second")
        }

        // MARK: - Many at once

        @Test func `T-MSG-52 each of many tasks gets the answer to its own request`() async throws {
            server.route("GET", "/echo/:n") { .text($0.parameters["n"] ?? "").chunked(1) }
            let session = URLSession.loopback()
            let answers = Watched<[Int: String]>([:])

            for number in 1...500 {
                session.dataTask(with: server.url("/echo/\(number)")) { data, _, _ in
                    answers.change { $0[number] = String(decoding: data ?? Data(), as: UTF8.self) }
                }.resume()
            }

            let all = try await answers.wait { $0.count == 500 }
            #expect(all.allSatisfy { $0.value == "\($0.key)" })
            #expect(server.acceptedConnections <= 6)
        }

        // MARK: - Resets

        @Test(arguments: [
            "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", String(hello.dropLast(2)),
        ])
        func `T-RES-30 a reset in the middle of an exchange is a lost connection`(sent: String) async throws {
            server.script(.expectRequest, .send(sent), .pause(until: "seen"), .reset)
            let session = URLSession.loopback()
            let outcomes = Outcomes()

            session.dataTask(with: server.url(), completionHandler: outcomes.handler).resume()
            try await server.waitForRequests(1)
            await session.settled()
            server.signal("seen")

            #expect(try await outcomes.first().code == -1005)
        }

        @Test func `T-RES-30 a reset in the middle of an upload is a lost connection`() async throws {
            server.script(.expectHead, .receive(1000), .reset)

            let body = Data(count: 32 << 20)
            let outcome = try await URLSession.loopback().outcome(of: URLRequest("POST", server.url(), body: body))

            #expect(outcome.code == -1005)
        }
    }
}
