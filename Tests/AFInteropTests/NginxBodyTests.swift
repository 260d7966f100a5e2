import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// Every way a server can say where a body ends. A second request on the
    /// same connection proves that not a byte too many or too few was taken.
    struct Bodies {
        let session = URLSession.fresh { $0.httpMaximumConnectionsPerHost = 1 }

        @Test func `a short body has its announced length`() async throws {
            let answer = try await session.get("/small")

            #expect(answer.status == 200)
            #expect(answer.text == "0123456789012345678901234567890123456789")
            #expect(answer.head.expectedContentLength == 40)
        }

        @Test(arguments: ["1m", "64m"])
        func `a file arrives byte for byte`(name: String) async throws {
            let answer = try await session.get("/" + name)

            let isSame = try answer.body == Nginx.file(name)
            #expect(isSame)
        }

        @Test func `chunks are put together`() async throws {
            let answer = try await session.get("/chunked")

            #expect(answer.field("Transfer-Encoding") == "chunked")
            #expect(answer.field("Content-Length") == nil)
            let isWhole = answer.text == Self.countingToFiveThousand
            #expect(isWhole)
        }

        @Test func `the end of the connection is the end of a body without length`() async throws {
            let answer = try await session.get("/until-close")

            #expect(answer.field("Transfer-Encoding") == nil)
            #expect(answer.field("Content-Length") == nil)
            let isWhole = answer.text == Self.countingToFiveThousand
            #expect(isWhole)
        }

        @Test func `a partial answer holds the range asked for`() async throws {
            let answer = try await session.send("GET", "/1m", fields: ["Range": "bytes=1000-1099"])

            #expect(answer.status == 206)
            #expect(answer.field("Content-Range") == "bytes 1000-1099/1048576")
            #expect(try answer.body == Nginx.file("1m")[1000..<1100])
        }

        @Test(arguments: ["/small", "/empty", "/status/204", "/status/404", "/status/500", "/chunked", "/large-head"])
        func `the connection is clean after the body`(path: String) async throws {
            let before = try await session.get("/connection")

            _ = try await session.get(path)

            let after = try await session.get("/connection")
            #expect(try after.connection == before.connection)
            #expect(try after.turn == 3)
        }

        @Test func `the answer to HEAD has a length and no body`() async throws {
            let answer = try await session.send("HEAD", "/1m")

            #expect(answer.status == 200)
            #expect(answer.field("Content-Length") == "1048576")
            #expect(answer.body.isEmpty)
            #expect(try await session.get("/connection").turn == 2)
        }

        @Test func `an unchanged file is answered with 304 and no body`() async throws {
            let entityTag = try #require(try await session.get("/1m").field("ETag"))

            let answer = try await session.send("GET", "/1m", fields: ["If-None-Match": entityTag])

            #expect(answer.status == 304)
            #expect(answer.body.isEmpty)
            #expect(try await session.get("/connection").turn == 3)
        }

        @Test func `twenty chunked bodies follow each other on one connection`() async throws {
            for turn in 1...20 {
                let isWhole = try await session.get("/chunked").text == Self.countingToFiveThousand
                #expect(isWhole, "body \(turn)")
            }

            #expect(try await session.get("/connection").turn == 21)
        }

        /// What the server makes of its ssi.txt: the include is gone, its line break is not.
        private static let countingToFiveThousand = (1...5000).map { "\($0)\n" }.joined() + "\n"
    }
}
