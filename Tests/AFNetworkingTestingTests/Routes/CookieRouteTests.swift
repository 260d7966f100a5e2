import AFNetworkingTesting
import Testing

@Suite struct CookieRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.cookies)
    }

    @Test func `the cookies of the request are listed`() throws {
        let reply = try Visit(server, "/cookies", ["Cookie: a=1; b=x=y;c", "Cookie: d=\"q\""])
        #expect(reply.text == #"{"cookies": {"a": "1", "b": "x=y", "c": "", "d": "\"q\""}}"# + "\n")
    }

    @Test func `cookies are set and deleted with a redirect to the list`() throws {
        let set = try Visit(server, "/cookies/set?a=1&b=x%20y")
        #expect(set.status == 302)
        #expect(set["location"] == "/cookies")
        #expect(set.values("set-cookie") == ["a=1; Path=/", "b=x y; Path=/"])
        #expect(try Visit(server, "/cookies/set/k/v").values("set-cookie") == ["k=v; Path=/"])
        let gone = "a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
        #expect(try Visit(server, "/cookies/delete?a").values("set-cookie") == [gone])
    }

    @Test func `raw lines are sent exactly`() throws {
        let target = "/cookies/raw?line=a%3D1%3B%20Secure&line=%3Db%09&status_code=307&url=/x"
        let reply = try Visit(server, target, method: "POST")
        #expect(reply.status == 307)
        #expect(reply["location"] == "/x")
        #expect(reply.values("set-cookie").first == "a=1; Secure")
        #expect(reply.values("set-cookie").count == 2)
        #expect(try Visit(server, "/cookies/raw?status_code=x").status == 400)
    }
}
