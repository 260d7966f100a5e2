import AFNetworkingTesting
import Foundation
import Testing

@Suite struct RangeRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.ranges)
    }

    @Test(arguments: [
        ("bytes=0-3", "abcd", "bytes 0-3/30"), ("bytes=28-", "cd", "bytes 28-29/30"),
        ("BYTES=-3", "bcd", "bytes 27-29/30"),
        ("bytes=25-99", "zabcd", "bytes 25-29/30"), ("bytes=-99", "abcdefghijklmnopqrstuvwxyzabcd", "bytes 0-29/30"),
        ("bytes=40-, 1-1", "b", "bytes 1-1/30"),
    ])
    func `one range is answered with 206`(range: String, body: String, content: String) throws {
        let reply = try Visit(server, "/range/30", ["Range: \(range)"])
        #expect(reply.status == 206)
        #expect(reply.text == body)
        #expect(reply["content-range"] == content)
        #expect(reply["etag"] == "\"range30\"")
        #expect(reply["accept-ranges"] == "bytes")
    }

    @Test(arguments: ["bytes=30-", "bytes=-0", "bytes=31-40,50-"])
    func `ranges beyond the end are refused`(range: String) throws {
        let reply = try Visit(server, "/range/30", ["Range: \(range)"])
        #expect(reply.status == 416)
        #expect(reply["content-range"] == "bytes */30")
    }

    @Test(arguments: ["lines=1-2", "bytes=3-1", "bytes=a-b", "bytes=+1-2", "bytes=", "bytes=1", "bytes=1-2,x", "1-2"])
    func `the answer to a malformed range is the whole`(range: String) throws {
        let reply = try Visit(server, "/range/30", ["Range: \(range)"])
        #expect(reply.status == 200)
        #expect(reply.body.count == 30)
    }

    @Test func `several ranges are several parts in the order of the request`() throws {
        let reply = try Visit(server, "/range/30", ["Range: bytes=28-, 0-1,99-"])
        #expect(reply.status == 206)
        #expect(reply["content-type"] == "multipart/byteranges; boundary=THIS_STRING_SEPARATES")
        #expect(
            reply.text == """
                \r
                --THIS_STRING_SEPARATES\r
                Content-Type: application/octet-stream\r
                Content-Range: bytes 28-29/30\r
                \r
                cd\r
                --THIS_STRING_SEPARATES\r
                Content-Type: application/octet-stream\r
                Content-Range: bytes 0-1/30\r
                \r
                ab\r
                --THIS_STRING_SEPARATES--\r\n
                """
        )
        #expect(reply["content-length"] == "\(reply.body.count)")
    }

    @Test func `the answer to If-Range of another version is the whole`() throws {
        func status(_ condition: String, _ query: String = "") throws -> Int {
            try Visit(server, "/range/30\(query)", ["Range: bytes=0-3", "If-Range: \(condition)"]).status
        }
        #expect(try status("\"range30\"") == 206)
        #expect(try status("\"other\"") == 200)
        #expect(try status("W/\"range30\"") == 200)
        #expect(try status("\"range30\"", "?etag=changed") == 200)
        #expect(try status("Sun, 06 Nov 1994 08:49:37 GMT") == 206)
        #expect(try status("Sun, 06 Nov 1994 08:49:38 GMT") == 200)
    }

    @Test func `the query changes the answers`() throws {
        #expect(try Visit(server, "/range/30?ignore=1", ["Range: bytes=1-2"])["accept-ranges"] == nil)
        #expect(try Visit(server, "/range/30?etag=")["etag"] == nil)
        let shifted = try Visit(server, "/range/30?shift=2", ["Range: bytes=4-9"])
        #expect(shifted["content-range"] == "bytes 6-9/30")
        #expect(shifted.text == "ghij")
        let start = ContinuousClock.now
        #expect(try Visit(server, "/range/25?duration=0.03").body.count == 25)
        #expect(ContinuousClock.now - start >= .milliseconds(27))
        #expect(try Visit(server, "/range/x").status == 400)
    }

    @Test func `the end of a huge body can be requested`() throws {
        let reply = try Visit(server, "/range/1000000000000", ["Range: bytes=999999999997-"])
        #expect(reply.body.count == 3)
        #expect(reply["content-range"] == "bytes 999999999997-999999999999/1000000000000")
    }
}
