import AFURLSession
import Foundation
import Testing

extension NginxTests {
    struct Uploads {
        let session = URLSession.fresh { $0.httpMaximumConnectionsPerHost = 1 }

        @Test(arguments: [0, 1, 1024, 65_536, 1_048_576])
        func `the server reads the whole body`(length: Int) async throws {
            let answer = try await session.send("POST", "/length", body: Data(count: length))

            #expect(answer.text == "\(length)")
        }

        @Test func `a stored file comes back byte for byte`() async throws {
            let file = try Nginx.file("1m")
            let path = "/store/" + UUID().uuidString

            #expect(try await session.send("PUT", path, body: file).status == 201)
            let isSame = try await session.get(path).body == file
            #expect(isSame)

            #expect(try await session.send("DELETE", path).status == 204)
            #expect(try await session.get(path).status == 404)
        }

        @Test func `a body refused while it is still being sent gets its 413`() async throws {
            let answer = try await session.send("POST", "/limited", body: Data(count: 8 << 20))

            #expect(answer.status == 413)
            #expect(try await session.get("/small").status == 200)
        }

        @Test func `a body of exactly the limit is accepted`() async throws {
            let answer = try await session.send("POST", "/limited", body: Data(count: 1024))

            #expect(answer.text == "1024")
        }

        @Test func `an interim answer is not taken for the final one`() async throws {
            let answer = try await session.send(
                "POST",
                "/length",
                fields: ["Expect": "100-continue"],
                body: Data(count: 10)
            )

            #expect(answer.status == 200)
            #expect(answer.text == "10")
        }

        @Test func `uploads and downloads take turns on one connection`() async throws {
            for _ in 1...5 {
                #expect(try await session.send("POST", "/length", body: Data(count: 100_000)).text == "100000")
                #expect(try await session.get("/small").body.count == 40)
            }

            #expect(try await session.get("/connection").turn == 11)
        }
    }
}
