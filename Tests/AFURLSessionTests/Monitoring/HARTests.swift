@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    @Suite("Traffic for a file")
    struct HAR {
        private let server: TestServer
        private let recorder = HARRecorder()

        init() throws {
            server = try TestServer()
            server.route("*", "/end") { request in .text("\(request.method) \(request.bodyText)") }
        }

        private typealias Object = [String: Any]

        private func log(_ recorder: HARRecorder, masksSecrets: Bool = true) throws -> Object {
            let archive = try JSONSerialization.jsonObject(with: recorder.archive(masksSecrets: masksSecrets))
            return try #require((archive as? Object)?["log"] as? Object)
        }

        private func entries(_ recorder: HARRecorder, masksSecrets: Bool = true) throws -> [Object] {
            let entries = try #require(try log(recorder, masksSecrets: masksSecrets)["entries"] as? [Object])
            for entry in entries { try check(entry) }
            return entries
        }

        /// Waits until so many are there: they come with the end of a task, before its callback.
        private func recorded(_ recorder: HARRecorder, _ session: URLSession, _ requests: [URLRequest]) async throws {
            for request in requests { _ = try await session.outcome(of: request) }
        }

        // MARK: - The format

        /// What HAR 1.2 requires of an entry.
        private func check(_ entry: Object) throws {
            func part(_ name: String, of object: Object) throws -> Object {
                try #require(object[name] as? Object, "\(name)")
            }
            let started = try #require(entry["startedDateTime"] as? String)
            #expect((try? Date(started, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) != nil)
            let request = try part("request", of: entry)
            let response = try part("response", of: entry)
            let timings = try part("timings", of: entry)
            _ = try part("cache", of: entry)
            for name in ["method", "url", "httpVersion"] { #expect(request[name] is String, "\(name)") }
            for name in ["cookies", "headers", "queryString"] { #expect(request[name] is [Object], "\(name)") }
            for name in ["headersSize", "bodySize"] {
                #expect(request[name] is NSNumber && response[name] is NSNumber, "\(name)")
            }
            if let post = request["postData"] as? Object {
                #expect(post["mimeType"] is String && post["text"] is String && post["params"] is [Object])
            }
            #expect(response["status"] is NSNumber)
            for name in ["statusText", "httpVersion", "redirectURL"] { #expect(response[name] is String, "\(name)") }
            for name in ["cookies", "headers"] { #expect(response[name] is [Object], "\(name)") }
            let content = try part("content", of: response)
            #expect(content["size"] is NSNumber && content["mimeType"] is String)
            try checkTimings(timings, entry)
        }

        private func checkTimings(_ timings: Object, _ entry: Object) throws {
            func number(_ name: String) throws -> Double {
                try #require(timings[name] as? NSNumber, "\(name)").doubleValue
            }
            for name in ["send", "wait", "receive"] { #expect(try number(name) >= 0) }
            let sum = try ["blocked", "dns", "connect", "send", "wait", "receive"].reduce(0) {
                try $0 + max(0, number($1))
            }
            let time = try #require(entry["time"] as? NSNumber).doubleValue
            #expect(abs(sum - time) < 0.01)
            #expect(try number("ssl") <= max(0, number("connect")))
        }

        @Test func `an archive has every field of HAR 1.2, its entries in order`() async throws {
            let session = URLSession.loopback { $0.eventMonitors = [recorder] }
            try await recorded(
                recorder,
                session,
                [
                    URLRequest(url: server.url("/end?a=b%20c&d")),
                    URLRequest(
                        "POST",
                        server.url("/end"),
                        body: Data("x=y+z".utf8),
                        fields: ["Content-Type": "application/x-www-form-urlencoded"]
                    ),
                ]
            )

            let log = try log(recorder)
            #expect(log["version"] as? String == "1.2")
            #expect((log["creator"] as? Object)?["name"] is String && (log["creator"] as? Object)?["version"] is String)
            let entries = try entries(recorder)
            #expect(entries.count == 2 && recorder.count == 2)
            let times = entries.compactMap { $0["startedDateTime"] as? String }
            #expect(times == times.sorted() && times.count == 2)
            let requests = entries.compactMap { $0["request"] as? Object }
            let query = requests[0]["queryString"] as? [Object]
            #expect(query?.map { $0["name"] as? String } == ["a", "d"] && query?[0]["value"] as? String == "b c")
            let post = requests[1]["postData"] as? Object
            #expect((post?["params"] as? [Object])?.first?["value"] as? String == "y z")
            #expect(post?["text"] as? String == "x=y+z" && requests[1]["bodySize"] as? Int == 5)
            let content = (entries[1]["response"] as? Object)?["content"] as? Object
            #expect(content?["text"] as? String == "POST x=y+z" && content?["size"] as? Int == 10)
            #expect(entries[0]["serverIPAddress"] as? String == "127.0.0.1")
            #expect(entries[0]["connection"] as? String == entries[1]["connection"] as? String)

            recorder.removeAll()
            #expect(recorder.count == 0)
            #expect(try self.entries(recorder).isEmpty)
        }

        @Test func `redirects, cache hits and failures are shown`() async throws {
            server.install(.caching)
            server.route("GET", "/on", ServerReply.text("gone").status(302).header("Location", "/end"))
            let gone = try TestServer()
            gone.stop()
            let session = URLSession.loopback { $0.eventMonitors = [recorder] }
            try await recorded(
                recorder,
                session,
                [
                    URLRequest(url: server.url("/on")), URLRequest(url: server.url("/cache/100")),
                    URLRequest(url: server.url("/cache/100")), URLRequest(url: gone.url("/")),
                ]
            )

            let entries = try entries(recorder)
            let responses = entries.compactMap { $0["response"] as? Object }
            #expect(responses.map { $0["status"] as? Int } == [302, 200, 200, 200, 0])
            #expect(responses[0]["redirectURL"] as? String == "/end")
            #expect(responses.map { $0["_fromCache"] as? Bool } == [nil, nil, nil, true, nil])
            let state = (entries[3]["cache"] as? Object)?["beforeRequest"] as? Object
            #expect(state?["lastAccess"] is String && state?["eTag"] is String && state?["hitCount"] is NSNumber)
            #expect((entries[3]["response"] as? Object)?["bodySize"] as? Int == 0)
            #expect((entries[4]["comment"] as? String)?.isEmpty == false)
        }

        @Test func `secrets are hidden unless you say otherwise`() async throws {
            server.route("GET", "/secret") { _ in
                ServerReply.json(#"{"access_token": "canary"}"#).header("Set-Cookie", "sid=canary; Path=/; HttpOnly")
                    .header("X-Mine", "seen")
            }
            server.route("POST", "/secret", ServerReply.text(""))
            let session = URLSession.loopback { configuration in
                configuration.eventMonitors = [recorder]
                configuration.httpAdditionalHeaders = ["X-Api-Key": "canary"]
            }
            var components = URLComponents(url: server.url("/secret"), resolvingAgainstBaseURL: true)
            components?.user = "canary"
            components?.query = "access_token=canary&x=1"
            let fields = ["Authorization": "Basic canary", "Cookie": "a=canary"]
            let login = Data(#"{"user": "me", "password": "canary"}"#.utf8)
            try await recorded(
                recorder,
                session,
                [
                    URLRequest("GET", try #require(components?.url), fields: fields),
                    URLRequest("POST", server.url("/secret"), body: login),
                ]
            )

            let hidden = String(decoding: try recorder.archive(), as: UTF8.self)
            #expect(!hidden.contains("canary") && hidden.contains("Basic ***"))
            #expect(
                !String(decoding: try recorder.archive(sensitiveFields: ["x-mine"]), as: UTF8.self).contains("seen")
            )
            let shown = try #require(try entries(recorder, masksSecrets: false).first?["request"] as? Object)
            #expect((shown["url"] as? String)?.contains("canary") == true)
            let cookie =
                (try entries(recorder, masksSecrets: false).first?["response"] as? Object)?["cookies"] as? [Object]
            #expect(cookie?.first?["value"] as? String == "canary" && cookie?.first?["httpOnly"] as? Bool == true)
        }

        // MARK: - Bounds

        @Test func `any number of entries is a limit`() async throws {
            for most in [Int.max, 0, -1, .min] {
                var limits = HARRecorder.Limits()
                limits.maximumEntries = most
                let recorder = HARRecorder(limits: limits)
                let session = URLSession.loopback { $0.eventMonitors = [recorder] }
                if most > 0 {
                    try await recorded(recorder, session, [URLRequest(url: server.url("/end"))])
                } else {
                    _ = try await session.outcome(of: server.url("/end"))
                }
            }
        }

        @Test func `bodies beyond the limit are left out, and it says so`() async throws {
            server.route("GET", "/bytes", ServerReply.text(String(repeating: "x", count: 500)))
            server.route("GET", "/binary", ServerReply.data([0xFF, 0x00]))
            var limits = HARRecorder.Limits()
            limits.maximumBodyBytes = 100
            let recorder = HARRecorder(limits: limits)
            let session = URLSession.loopback { $0.eventMonitors = [recorder] }
            try await recorded(
                recorder,
                session,
                [
                    URLRequest(url: server.url("/bytes")), URLRequest(url: server.url("/binary")),
                    URLRequest("POST", server.url("/end"), body: Data(count: 200)),
                ]
            )

            let entries = try entries(recorder)
            let contents = entries.compactMap { ($0["response"] as? Object)?["content"] as? Object }
            #expect(
                contents[0]["text"] == nil && contents[0]["comment"] is String && contents[0]["size"] as? Int == 500
            )
            #expect(contents[1]["text"] as? String == "/wA=" && contents[1]["encoding"] as? String == "base64")
            let post = (entries[2]["request"] as? Object)?["postData"] as? Object
            #expect(post?["text"] as? String == "" && post?["comment"] is String)
        }

        @Test func `the oldest go when there is no room`() async throws {
            var limits = HARRecorder.Limits()
            limits.maximumEntries = 2
            limits.maximumTotalBodyBytes = 5
            let recorder = HARRecorder(limits: limits)
            let session = URLSession.loopback { $0.eventMonitors = [recorder] }
            let request = URLRequest(url: server.url("/end"))
            try await recorded(recorder, session, Array(repeating: request, count: 7))

            let entries = try entries(recorder)
            #expect(entries.count == 2 && recorder.count == 2)
            #expect(try log(recorder)["comment"] as? String == "5 older entries were left out.")
            let contents = entries.compactMap { ($0["response"] as? Object)?["content"] as? Object }
            #expect(contents[0]["text"] == nil && contents[1]["text"] as? String == "GET ")

            limits.maximumEntries = 0
            limits.maximumBodyBytes = -1
            let nothing = HARRecorder(limits: limits)
            let other = URLSession.loopback { $0.eventMonitors = [nothing] }
            try await recorded(nothing, other, [request])
            #expect(nothing.count == 0)
        }

        @Test func `times are those of the metrics`() throws {
            let world = VirtualWorld()
            world.configure { $0.eventMonitors = [recorder] }
            world.host("api.test", "192.0.2.1", after: .milliseconds(40))
            world.set(.acceptsAfter(.milliseconds(80)), for: "192.0.2.1")
            world.script(
                "api.test",
                .expectRequest,
                .delay(.milliseconds(300)),
                .reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                .again
            )
            let events = world.load("http://api.test/")

            let entry = try #require(try entries(recorder).first)
            let timings = try #require(entry["timings"] as? Object)
            func number(_ name: String) -> Double { (timings[name] as? NSNumber)?.doubleValue ?? .nan }
            #expect(number("dns") >= 40 && number("dns") < 50)
            #expect(number("connect") >= 80 && number("connect") < 100 && number("ssl") == -1)
            #expect(number("wait") >= 300 && number("wait") < 320)
            let metrics = try #require(events.record.metrics?.transactionMetrics.first)
            let wait = try #require(metrics.responseStartDate).timeIntervalSince(try #require(metrics.requestEndDate))
            #expect(abs(wait * 1000 - number("wait")) < 1)
            #expect(world.finish() == [])
        }
    }
}
