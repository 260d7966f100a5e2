import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// Which connections the server saw: it counts them and their requests.
    struct Connections {
        @Test func `requests one after the other share a connection`() async throws {
            let session = URLSession.fresh()
            var answers: [Answer] = []

            for _ in 1...10 { answers.append(try await session.get("/connection")) }

            #expect(Set(try answers.map { try $0.connection }).count == 1)
            #expect(try answers.map { try $0.turn } == Array(1...10))
        }

        @Test func `a connection the server closes is not used again`() async throws {
            let session = URLSession.fresh()
            var connections: [Int] = []

            for _ in 1...5 { connections.append(try await session.get("/close").connection) }

            #expect(Set(connections).count == 5)
        }

        @Test func `sessions do not share connections`() async throws {
            let one = try await URLSession.fresh().get("/connection")
            let other = try await URLSession.fresh().get("/connection")

            #expect(try one.connection != other.connection)
        }

        @Test(arguments: [1, 6, 64])
        func `200 requests at once stay within the limit`(limit: Int) async throws {
            let session = URLSession.fresh { $0.httpMaximumConnectionsPerHost = limit }

            let connections = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...200 { group.addTask { try await session.get("/connection").connection } }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(connections.count == 200)
            #expect(Set(connections).count <= limit)
        }

        @Test func `each of 200 requests at once gets its own answer`() async throws {
            let session = URLSession.fresh { $0.httpMaximumConnectionsPerHost = 16 }

            try await withThrowingTaskGroup { group in
                for number in 1...200 {
                    group.addTask {
                        let answer = try await session.get("/echo?n=\(number)")
                        #expect(answer.text.hasPrefix("GET /echo?n=\(number)|"))
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func `a limit of requests on each connection is met by new connections`() async throws {
            let session = URLSession.fresh()
            var turns: [Int] = []

            for _ in 1...7 { turns.append(try await session.get("/", from: .closingAfterTwo).turn) }

            #expect(turns == [1, 2, 1, 2, 1, 2, 1])
        }

        @Test func `a connection the server closed while idle is replaced unseen`() async throws {
            let session = URLSession.fresh()
            let before = try await session.get("/", from: .closingAfterIdleSecond)

            // The server's clock is what is tested here; nothing tells us when it has closed.
            try await Task.sleep(for: .seconds(1.5))

            let after = try await session.get("/", from: .closingAfterIdleSecond)
            #expect(try after.connection != before.connection)
        }

        @Test func `a request sent just as the server closes is not lost`() async throws {
            try await withThrowingTaskGroup { group in
                // Pauses from 0.95 to 1.05 s: before, at and after the server's own deadline.
                for step in 0...40 {
                    group.addTask {
                        let session = URLSession.fresh()
                        _ = try await session.get("/", from: .closingAfterIdleSecond)
                        try await Task.sleep(for: .milliseconds(950) + .microseconds(2500 * step))
                        #expect(try await session.get("/", from: .closingAfterIdleSecond).status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func `a Unix socket serves the same site`() async throws {
            let path = try Nginx.socketPath
            let session = URLSession.fresh { $0.unixDomainSocketPath = path }

            let url = try #require(URL(string: "http://api.test/echo"))
            let answer = try Answer(await session.data(from: url))

            #expect(answer.text.hasPrefix("GET /echo|api.test|"))
        }

        @Test func `a host name is resolved, and has connections of its own`() async throws {
            let session = URLSession.fresh()
            let address = try Nginx.url("/connection")
            let port = try #require(address.port)
            let name = try #require(URL(string: "http://localhost:\(port)/connection"))

            let byAddress = try Answer(await session.data(from: address))
            let byName = try Answer(await session.data(from: name))

            #expect(try byAddress.connection != byName.connection)
        }
    }
}
