import Testing

@testable import AFWire

/// What is remembered of earlier URLs changes nothing.
@Suite struct KnownOriginsTests {
    /// Other tests use the same memory, so one try may miss.
    @Test func `an origin that is named again is the same endpoint`() throws {
        let isShared = try (0..<10_000).contains { _ in
            let first = try RequestURL("http://known.test:81/a?b")
            let second = try RequestURL("http://known.test:81/c#d")
            #expect(String(decoding: second.target, as: UTF8.self) == "/c" && second.userInfo == nil)
            return first.endpoint === second.endpoint
        }
        #expect(isShared)
    }

    @Test func `user information is neither remembered nor forgotten`() throws {
        for _ in 0..<3 {
            #expect(try RequestURL("http://u:p@secret.test/").userInfo == Array("u:p".utf8))
            #expect(try RequestURL("http://secret.test/").userInfo == nil)
        }
    }

    @Test func `another spelling is checked anew, and is the same endpoint`() throws {
        let texts = ["http://spelt.test", "http://SPELT.test/", "HTTP://spelt.test:80/", "http://spelt.test:/"]
        for text in texts + texts {
            #expect(try RequestURL(text).endpoint == Endpoint(scheme: .http, host: "spelt.test"), "\(text)")
        }
    }

    @Test(arguments: [
        "http://known.test:81x/", "http://known.test:81\\/", "http://known.test:0/", "http://known.test:99999/",
        "http://known.test:81@", "http://kn own.test:81/", "ftp://known.test:81/",
    ])
    func `T-URL a text that only begins like a known origin is refused as before`(text: String) throws {
        _ = try RequestURL("http://known.test:81/")
        #expect(throws: RequestRejection.self) { try RequestURL(text) }
    }

    @Test func `a target is checked for a known origin, too`() throws {
        _ = try RequestURL("http://known.test:81/")
        #expect(throws: RequestRejection.self) { try RequestURL("http://known.test:81/a\u{1}") }
        #expect(throws: RequestRejection.self) { try RequestURL("http://known.test:81/a\\b") }
    }

    @Test func `many origins, from several threads, are all their own`() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    (0..<2000).allSatisfy { number in
                        let port = 1000 + (number * 7 + thread) % 40
                        return (try? RequestURL("http://many.test:\(port)/"))?.endpoint.port == UInt16(port)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

/// The fields that the head of the last request got.
@Suite struct RecentFieldsTests {
    private func head(_ fields: [String: String], _ defaults: HeaderDefaults) throws -> (String, Bool) {
        let fields = RequestFields(fields)
        var head = try RequestHead(
            url: RequestURL("http://h/"),
            method: "GET",
            traits: MethodTraits("GET"),
            fields: fields,
            defaults: defaults
        )
        try head.addAll(fields, with: defaults)
        return (head.fields.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), head.closesConnection)
    }

    private func defaults() -> HeaderDefaults {
        HeaderDefaults(additionalHeaders: ["X-Team": "blue"], userAgent: "test")
    }

    @Test func `requests with other fields in between have their own each time`() throws {
        let kinds: [[String: String]] = [
            [:], ["Accept": "a"], ["Accept": "b"], ["accept": "a"], ["Accept": "a", "X-Team": "red"],
            ["Connection": "close"], ["Authorization": "Bearer 1"], ["Range": "bytes=0-1"], ["Host": "other"],
        ]
        let defaults = defaults()
        for first in kinds {
            for second in kinds {
                for fields in [first, second, second, first] {
                    let (got, wanted) = (try head(fields, defaults), try head(fields, self.defaults()))
                    #expect(got == wanted, "\(first) \(second)")
                }
            }
        }
    }

    @Test func `fields that are refused are refused after others, and others after them`() throws {
        let defaults = defaults()
        for _ in 0..<2 {
            _ = try head(["Accept": "a"], defaults)
            #expect(throws: RequestRejection.self) { try head(["Accept": "a\n"], defaults) }
            #expect(throws: RequestRejection.self) {
                try head(["na me": "x"], defaults)
            }
        }
    }
}
