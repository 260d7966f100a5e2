import AFRequest
import AFTestFixtures
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

struct RequestFramingTests {
    @Test(arguments: ["POST", "PUT", "PATCH"])
    func `T-REQ-16 a method that usually has a body announces that there is none`(method: String) throws {
        let frozen = try freeze("http://a.test/") { $0.httpMethod = method }

        #expect(frozen.values("Content-Length") == ["0"])
        #expect(frozen.body.framing == .length(0))
        #expect(frozen.body.data == nil)
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PURGE"])
    func `T-REQ-16 other methods announce nothing without a body`(method: String) throws {
        let frozen = try freeze("http://a.test/") { $0.httpMethod = method }

        #expect(frozen.values("Content-Length") == [])
        #expect(frozen.body.framing == .none)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func `T-REQ-16 the length is that of the body`(method: String) throws {
        let frozen = try freeze("http://a.test/") { request in
            request.httpMethod = method
            request.httpBody = Data("hello".utf8)
        }

        #expect(frozen.values("Content-Length") == ["5"])
        #expect(frozen.body.data == Data("hello".utf8))
        #expect(frozen.body.framing == .length(5))
    }

    @Test(arguments: ["GET", "HEAD", "TRACE"])
    func `a body with GET and HEAD must be asked for, and TRACE has none`(method: String) throws {
        func sent(_ isAskedFor: Bool) throws -> WireRequest {
            try freeze("http://a.test/") { request in
                request.httpMethod = method
                request.httpBody = Data("hello".utf8)
                request.sendsBodyWithAnyMethod = isAskedFor
            }
        }
        func isRefused(_ isAskedFor: Bool) -> Bool {
            do {
                _ = try sent(isAskedFor)
                return false
            } catch {
                return (error as? RequestRejection)?.rule == .bodyNotAllowed
            }
        }

        #expect(isRefused(false))
        #expect(isRefused(true) == (method == "TRACE"))
        if method != "TRACE" { #expect(try sent(true).values("Content-Length") == ["5"]) }
    }

    @Test func `T-REQ-16 an empty body is none`() throws {
        let frozen = try freeze("http://a.test/") { $0.httpBody = Data() }

        #expect(frozen.values("Content-Length") == [])
        #expect(frozen.body.data == nil)
    }

    @Test func `T-REQ-16 the length of a body the task brings takes the place of the request's`() throws {
        let frozen = try freeze("http://a.test/", bodyLength: 1 << 40) { request in
            request.httpMethod = "PUT"
            request.httpBody = Data("hello".utf8)
        }

        #expect(frozen.values("Content-Length") == ["1099511627776"])
        #expect(frozen.body.data == nil)
    }

    @Test(arguments: [
        "Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING", "Keep-Alive", "TE", "te",
        "Trailer", "Proxy-Connection", "Proxy-Authorization", "proxy-authenticate", "Proxy-X",
    ])
    func `T-REQ-14 a field of the connection is not the caller's`(name: String) throws {
        let plain = try freeze("http://a.test/") { $0.httpMethod = "POST" }

        let frozen = try freeze("http://a.test/") { request in
            request.httpMethod = "POST"
            request.setValue("7", forHTTPHeaderField: name)
        }
        let defaults = HeaderDefaults(additionalHeaders: [name: "7"], userAgent: "test/1")
        let fromSession = try freeze("http://a.test/", defaults: defaults) { $0.httpMethod = "POST" }

        #expect(frozen.lines == plain.lines)
        #expect(fromSession.lines == plain.lines)
    }

    @Test(arguments: ["Upgrade", "upgrade", "HTTP2-Settings"])
    func `T-REQ-14 asking for another protocol is refused`(name: String) {
        let defaults = HeaderDefaults(additionalHeaders: [name: "websocket"], userAgent: "test/1")

        for attempt in [
            { try freeze("http://a.test/") { $0.setValue("websocket", forHTTPHeaderField: name) } },
            { try freeze("http://a.test/", defaults: defaults) },
        ] {
            let error = #expect(throws: RequestRejection.self) { try attempt() }
            #expect(error?.rule == .notAllowed)
        }
    }

    @Test(arguments: [
        ("close", true), ("Close", true), ("keep-alive", false), ("keep-alive, close", true), ("x,CLOSE,y", true),
        (" close ", true), ("closed", false), ("upgrade", false), ("", false), ("\"close\"", false),
    ])
    func `T-REQ-14 of Connection only close counts`(value: String, closes: Bool) throws {
        let frozen = try freeze("http://a.test/") { $0.setValue(value, forHTTPHeaderField: "Connection") }

        #expect(frozen.head.closesConnection == closes)
        #expect(frozen.values("Connection") == (closes ? ["close"] : []))
    }

    @Test func `T-REQ-14 close among the additional headers counts too`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["connection": "close"], userAgent: "test/1")

        let frozen = try freeze("http://a.test/", defaults: defaults)

        #expect(frozen.head.closesConnection)
        #expect(frozen.values("Connection") == ["close"])
    }

    @Test func `T-REQ-14 Expect goes with a body only`() throws {
        let with = try freeze("http://a.test/") { request in
            request.httpMethod = "PUT"
            request.httpBody = Data([1])
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        let without = try freeze("http://a.test/") { $0.setValue("100-continue", forHTTPHeaderField: "Expect") }

        #expect(with.values("Expect") == ["100-continue"])
        #expect(without.values("Expect") == [])
    }

    @Test func `T-REQ-14 Expect among the additional headers goes with a body only, and once`() throws {
        let defaults = HeaderDefaults(additionalHeaders: ["expect": "100-Continue"], userAgent: "test/1")
        func put(_ change: (inout URLRequest) -> Void = { _ in }) throws -> WireRequest {
            var request = URLRequest("PUT", try #require(URL(string: "http://a.test/")), body: Data([1]))
            change(&request)
            return try RequestFreezer.freeze(request, defaults: defaults, plan: .own, expectsContinueAbove: 0)
        }

        let frozen = try put()

        #expect(frozen.values("Expect") == ["100-Continue"] && frozen.head.expectsContinue)
        for method in ["GET", "HEAD", "PUT"] {
            let bodiless = try freeze("http://a.test/", defaults: defaults) { $0.httpMethod = method }
            #expect(bodiless.values("Expect") == [] && !bodiless.head.expectsContinue)
        }
        #expect(try put { $0.usesHTTP10 = true }.values("Expect") == [])
        let own = try put { $0.setValue("something", forHTTPHeaderField: "Expect") }
        #expect(own.values("Expect") == ["something"] && !own.head.expectsContinue)
        let withheld = HeaderDefaults(defaults) { $0 == "Expect" }
        let without = try freeze("http://a.test/", defaults: withheld, bodyLength: 1) { $0.httpMethod = "PUT" }
        #expect(without.values("Expect") == [])
    }
}
