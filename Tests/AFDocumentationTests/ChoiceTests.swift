import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// What the page about coming from URLSession lists as choices, on our side.
@Suite struct ChoiceTests {
    private let server: TestServer
    private let session: URLSession

    init() throws {
        server = try TestServer()
        server.route("*", "/see", .text("see"))
        session = URLSession(configuration: .ephemeral)
    }

    private struct Answer {
        var body = ""
        var response: HTTPURLResponse?
        var code: Int?
    }

    private func load(_ path: String, _ change: (inout URLRequest) -> Void = { _ in }) async -> Answer {
        var request = URLRequest(url: server.url(path))
        change(&request)
        return await withCheckedContinuation { continuation in
            session.dataTask(with: request) { data, response, error in
                let body = String(decoding: data ?? Data(), as: UTF8.self)
                let code = (error as? URLError)?.errorCode
                continuation.resume(returning: Answer(body: body, response: response as? HTTPURLResponse, code: code))
            }.resume()
        }
    }

    /// Loads what a server sends, byte for byte.
    private func load(raw head: String, _ body: [UInt8] = []) async -> Answer {
        server.route("GET", "/raw", .raw(bytes: Array(head.utf8) + body))
        return await load("/raw")
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    @Test func `messages that can be read in two ways, or are cut short, are errors`() async {
        #expect(await load(raw: Self.ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!").code == -1017)
        let both = await load(
            raw: Self.ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        )
        #expect(both.body == "ok" && both.response?.expectedContentLength == -1)
        server.route("GET", "/short", ServerReply.text("helloworld").closing(after: 5))
        #expect(await load("/short").code == -1005)
        #expect(await load(raw: "hello").code == -1017)
    }

    @Test func `a coded body is decoded to its end, or stays as it came`() async throws {
        let coded = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="))
        func answer(_ coded: Data) async -> Answer {
            let head = Self.ok + "Content-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n"
            return await load(raw: head, Array(coded))
        }
        #expect(await answer(coded).body == "hello")
        #expect(await answer(coded.dropLast(6)).code == -1015)
        let unknown = await load(raw: Self.ok + "Content-Encoding: foo\r\nContent-Length: 5\r\n\r\nhello")
        #expect(unknown.body == "hello" && unknown.code == nil)
    }

    @Test func `what servers write and others refuse is read`() async {
        var head = Array((Self.ok + "X-L: caf").utf8)
        head.append(0xE9)
        head += "\r\nContent-Length: 2\r\n\r\nok".utf8
        #expect(await load(raw: "", head).response?.value(forHTTPHeaderField: "X-L") == "caf\u{E9}")
        #expect(await load(raw: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok").body == "ok")
        #expect(await load(raw: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok").body == "ok")
        let asked = "WWW-Authenticate: Basic realm=\"x\"\r\n"
        let refused = await load(raw: "HTTP/1.1 401 No\r\n\(asked)Content-Length: 2\r\n\r\nno")
        #expect(refused.response?.statusCode == 401 && refused.body == "no")
    }

    @Test func `a redirect is followed, or is no success`() async {
        func found(_ fields: String) -> String { "HTTP/1.1 302 Found\r\n\(fields)Content-Length: 2\r\n\r\nno" }
        let nowhere = await load(raw: found(""))
        #expect(nowhere.response?.statusCode == 302 && nowhere.body == "no")
        #expect(await load(raw: found("Location: http://a b/\r\n")).code == -1010)
        #expect(await load(raw: found("Location: file:///etc/hostname\r\n")).code == -1002)
        #expect(server.requests.allSatisfy { $0.target == "/raw" })
    }

    @Test(arguments: [(301, "PUT"), (302, "PUT"), (307, "PUT"), (307, "POST")])
    func `a body goes along with its method`(status: Int, method: String) async {
        server.route("*", "/moved", ServerReply.status(status).header("Location", "/see"))
        let answer = await load("/moved") {
            $0.httpMethod = method
            $0.httpBody = Data("body".utf8)
        }
        #expect(answer.body == "see")
        let last = server.requests.last
        #expect(last?.method == method && last.map { String(decoding: $0.body, as: UTF8.self) } == "body")
    }

    @Test func `a request is what the program said, or is not sent`() async {
        #expect(await load("/see") { $0.setValue("a\r\nX-Evil: 1", forHTTPHeaderField: "X-A") }.code == -1000)
        #expect(await load("/see") { $0.httpMethod = "G T" }.code == -1000)
        #expect(server.requests.isEmpty)
        #expect(await load("/see") { $0.setValue("5", forHTTPHeaderField: "Content-Length") }.body == "see")
        let sent = server.requests.first?.headers
        #expect(sent?["Content-Length"] == nil && sent?["Accept-Language"] == nil)
    }

    @Test func `fields that may come once are not joined, and cookies not by commas`() async {
        let fields = "ETag: \"1\"\r\nETag: \"2\"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        let answer = await load(raw: Self.ok + fields + "Content-Length: 0\r\n\r\n")

        #expect(answer.response?.allHeaderFields["Etag"] as? String == "\"1\"")
        #expect(answer.response?.allHeaderFields["Set-Cookie"] as? String == "a=1\nb=2")
    }

    @Test func `cookies are judged by the RFC`() async {
        let cookies = [
            "s=1; Secure", "__Host-x=1", "gone=1; Max-Age=-1", "far=1; Max-Age=99999999999", "b=1", "a=1",
            "deep=1; Path=/see",
        ]
        let fields = cookies.map { "Set-Cookie: \($0); \($0.contains("Path") ? "" : "Path=/")\r\n" }.joined()
        _ = await load(raw: Self.ok + fields + "Content-Length: 0\r\n\r\n")
        _ = await load("/see")

        #expect(server.requests.last?.headers["Cookie"] == "deep=1; far=1; b=1; a=1")
        let far = session.configuration.httpCookieStorage?.cookies?.first { $0.name == "far" }?.expiresDate
        #expect(abs((far?.timeIntervalSinceNow ?? 0) - 400 * 86_400) < 60)
    }

    @Test func `a file is named after the response, or the URL`() async {
        #expect(await load("/see").response?.suggestedFilename == "see")
        let named = "Content-Disposition: attachment; filename=\"../../x.txt\"\r\n"
        #expect(await load(raw: Self.ok + named + "Content-Length: 0\r\n\r\n").response?.suggestedFilename == "x.txt")
    }

    // MARK: - Archives

    @Test func `the name of a class in an archive has its module, whatever a program sets`() throws {
        let response = try #require(
            HTTPURLResponse(url: server.url("/"), statusCode: 204, httpVersion: nil, headerFields: ["A": "b"])
        )
        func archive(_ change: (NSKeyedArchiver) -> Void) -> Data {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            archiver.outputFormat = .xml
            change(archiver)
            archiver.encode(response, forKey: NSKeyedArchiveRootObjectKey)
            archiver.finishEncoding()
            return archiver.encodedData
        }
        let plain = archive { _ in }
        let renamed = archive { $0.setClassName("HTTPURLResponse", for: HTTPURLResponse.self) }

        for data in [plain, renamed] {
            #expect(String(decoding: data, as: UTF8.self).contains("<string>AFURLTypes.HTTPURLResponse</string>"))
        }
        // A class that has moved is read where the program names it.
        let text = String(decoding: plain, as: UTF8.self).replacing("AFURLTypes.", with: "FormerModule.")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(text.utf8))
        unarchiver.setClass(HTTPURLResponse.self, forClassName: "FormerModule.HTTPURLResponse")
        let read = unarchiver.decodeObject(of: HTTPURLResponse.self, forKey: NSKeyedArchiveRootObjectKey)
        #expect(read == response)
    }
}
