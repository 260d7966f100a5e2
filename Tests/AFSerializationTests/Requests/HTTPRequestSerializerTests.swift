import AFWire

@Suite("Requests with queries and forms")
struct HTTPRequestSerializerTests {
    private let serializer = HTTPRequestSerializer()

    // MARK: - The catalogue

    @Test("13.2.1 a POST is a form")
    func form() throws {
        let request = try serializer.post(["key": "value"])

        #expect(request.contentType == "application/x-www-form-urlencoded")
        #expect(request.bodyText == "key=value")
        #expect(request.httpMethod == "POST")
    }

    @Test("13.2.2 14 requests: a POST without parameters is an empty form")
    func emptyForm() throws {
        for parameters in [nil, [:] as [String: String]] {
            let request = try serializer.post(parameters)

            #expect(request.contentType == "application/x-www-form-urlencoded")
            #expect(request.httpBody == Data())
        }
    }

    @Test("13.2.3 a GET has a query, and no body or content type")
    func query() throws {
        let request = try serializer.get(["key": "value"])

        #expect(request.url?.query == "key=value")
        #expect(request.httpBody == nil && request.contentType == nil)
    }

    @Test("13.2.4 14 requests, T-API-27: empty parameters leave no question mark")
    func emptyQuery() throws {
        #expect(try serializer.get([:] as [String: Any]).url?.absoluteString == "http://api.test/get")
        #expect(try serializer.get(nil).url?.absoluteString == "http://api.test/get")
    }

    @Test(
        "13.2.5 13.2.6 queries are escaped once",
        arguments: [
            (" :#[]@!$&'()*+,;=/?", "%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"),
            (
                "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F",
                "%2520%2521%2522%2523%2524%2525%2526%2527%2528%2529%252A%252B%252C%252F"
            ),
        ]
    )
    func escaping(value: String, escaped: String) throws {
        #expect(try serializer.get(["key": value]).url?.absoluteString == "http://api.test/get?key=\(escaped)")
    }

    @Test("13.2.7 14 requests: a query block is really used")
    func block() throws {
        serializer.setQueryStringSerializationWith { _, parameters, _ in
            (parameters as? [String: String])?.map { "\($0.key)**\($0.value)" }.joined()
        }

        #expect(try serializer.get(["key": "value"]).url?.query == "key**value")
        #expect(try serializer.post(["key": "value"]).bodyText == "key**value")
    }

    @Test("13.2.9 13.2.10 13.2.12 header fields are set, read and removed")
    func headers() {
        serializer.setValue("value", forHTTPHeaderField: "X-Test")
        #expect(serializer.value(forHTTPHeaderField: "X-Test") == "value")
        #expect(serializer.value(forHTTPHeaderField: "x-test") == nil)
        #expect(serializer.value(forHTTPHeaderField: "X-Other") == nil)
        #expect(serializer.httpRequestHeaders["X-Test"] == "value")

        serializer.setValue(nil, forHTTPHeaderField: "X-Test")

        #expect(serializer.httpRequestHeaders["X-Test"] == nil)
    }

    @Test("13.2.11 14 requests: the error of a query block is that of the request")
    func blockError() {
        let own = NSError(domain: "test", code: 7)
        for result in [nil, "ignored"] {
            serializer.setQueryStringSerializationWith { _, _, error in
                error?.pointee = own
                return result
            }

            #expect(serializer.failure([:] as [String: String], method: "GET", url: "url") === own)
            var error: NSError?
            let made = serializer.request(
                bySerializing: URLRequest(url: URL(fileURLWithPath: "/")),
                withParameters: [String: String](),
                error: &error
            )
            #expect(made == nil && error === own)
        }
    }

    @Test("13.2.13 14 requests: a thousand threads may set a header field")
    func concurrent() async {
        let serializer = serializer
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    serializer.setValue("\(number)", forHTTPHeaderField: "X-Number")
                    serializer.setValue("\(number)", forHTTPHeaderField: "X-\(number % 10)")
                    _ = serializer.httpRequestHeaders
                    _ = try? serializer.get(["n": number])
                }
            }
        }

        #expect(serializer.httpRequestHeaders.count { $0.key.hasPrefix("X-") } == 11)
    }

    @Test("T-API-15 sixteen threads may set everything while requests are made, copied and archived")
    func everyMutator() async throws {
        let serializer = JSONRequestSerializer()
        let list = PropertyListRequestSerializer()
        let encodable = EncodableRequestSerializer()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    for round in 0..<4 {
                        for one in [serializer, list, encodable] { Self.setEverything(one, number + round) }
                        serializer.writingOptions = .sortedKeys
                        (list.format, list.writeOptions) = (.binary, round)
                        encodable.encoder = JSONEncoder()
                        for one in [serializer, list, encodable] {
                            _ = try? one.post(["n": number])
                            _ = try? one.get(["n": number])
                            _ = one.copy()
                            _ = try? one.archived()
                        }
                    }
                }
            }
        }

        #expect(serializer.writingOptions == .sortedKeys && list.format == .binary)
    }

    private static func setEverything(_ serializer: HTTPRequestSerializer, _ number: Int) {
        serializer.stringEncoding = .utf8
        serializer.allowsCellularAccess = number % 2 == 0
        serializer.cachePolicy = .returnCacheDataElseLoad
        serializer.httpShouldHandleCookies = number % 2 == 0
        serializer.httpShouldUsePipelining = number % 2 == 0
        serializer.networkServiceType = .background
        serializer.timeoutInterval = Double(number)
        serializer.httpMethodsEncodingParametersInURI = ["GET", "M\(number)"]
        serializer.setAuthorizationHeaderFieldWithUsername("\(number)", password: "")
        serializer.clearAuthorizationHeader()
        serializer.setQueryStringSerializationWith { _, _, _ in "n=\(number)" }
        if number % 2 == 0 { serializer.setQueryStringSerializationWith(.defaultStyle) }
    }

    // MARK: - Where the query goes

    @Test("a query is appended to one that is there")
    func longerQuery() throws {
        #expect(
            try serializer.get(["b": 2], from: "http://api.test/?a=1").url?.absoluteString == "http://api.test/?a=1&b=2"
        )
        #expect(try serializer.get(["b": 2], from: "url").url?.absoluteString == "url?b=2")
    }

    @Test("16 8.3 a query stands before the fragment")
    func fragment() throws {
        let request = try serializer.get(["b": 2], from: "http://api.test/p#a?b")
        let longer = try serializer.get(["b": 2], from: "http://api.test/p?a=1#top")

        #expect(request.url?.absoluteString == "http://api.test/p?b=2#a?b")
        #expect(longer.url?.absoluteString == "http://api.test/p?a=1&b=2#top")
    }

    @Test("methods are looked up in capitals, and may be chosen")
    func methods() throws {
        for method in ["GET", "HEAD", "DELETE", "get", "Delete"] {
            let request = try serializer.request(withMethod: method, urlString: "url", parameters: ["a": 1])
            #expect(request.url?.query == "a=1" && request.httpBody == nil)
            #expect(request.httpMethod == method.uppercased())
        }
        serializer.httpMethodsEncodingParametersInURI = ["POST"]

        #expect(try serializer.post(["a": 1]).url?.query == "a=1")
        #expect(try serializer.get(["a": 1]).bodyText == "a=1")
    }

    @Test("a block that returns nil leaves the request without a query")
    func silentBlock() throws {
        serializer.setQueryStringSerializationWith { _, _, _ in nil }

        #expect(try serializer.get(["a": 1]).url?.query == nil)
        #expect(try serializer.post(["a": 1]).httpBody == Data())
    }

    @Test("a block is not called without parameters, gets the request as it came, and is removed by a style")
    func blockQuestions() throws {
        serializer.setValue("set", forHTTPHeaderField: "X-Test")
        serializer.setQueryStringSerializationWith { request, parameters, _ in
            "\(request.value(forHTTPHeaderField: "X-Test") ?? "none")-\(request.httpMethod ?? "")-\(parameters)"
        }

        #expect(try serializer.get(nil).url?.query == nil)
        #expect(try serializer.get("p").url?.query == "none-GET-p")
        serializer.setQueryStringSerializationWith(.defaultStyle)
        #expect(try serializer.get(["a": 1]).url?.query == "a=1")
        serializer.setQueryStringSerialization { _, _ in throw CancellationError() }
        #expect(throws: CancellationError.self) { try serializer.get(["a": 1]) }
        serializer.setQueryStringSerializationWith(nil)
        #expect(try serializer.get(["a": 1]).url?.query == "a=1")
    }

    @Test("bodies have the string encoding; what it lacks is an error")
    func encoding() throws {
        serializer.setQueryStringSerializationWith { _, parameters, _ in "\(parameters)" }
        serializer.stringEncoding = .isoLatin1
        #expect(try serializer.post("é").httpBody == Data([0xE9]))

        let error = serializer.failure("漢")

        #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1016)
        serializer.stringEncoding = String.Encoding(rawValue: 123_456)
        #expect(serializer.failure("é")?.code == -1016)
    }

    @Test(
        "a URL that cannot be parsed is an error, which does not repeat what may be secret",
        arguments: ["", "http://user:secret@[::1", "http://secret:x:y/"]
    )
    func badURL(text: String) {
        let error = serializer.failure(nil, method: "GET", url: text)

        #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1000)
        #expect(error?.localizedDescription.contains("secret") == false)
    }

    // MARK: - What was set

    @Test("14 requests: 16 8.3 what was never set reads as documented, and is not put on requests")
    func untouched() throws {
        #expect(serializer.allowsCellularAccess && serializer.httpShouldHandleCookies)
        #expect(!serializer.httpShouldUsePipelining && serializer.timeoutInterval == 60)
        #expect(serializer.cachePolicy == .useProtocolCachePolicy && serializer.networkServiceType == .default)
        #expect(serializer.stringEncoding == .utf8 && serializer.bodyCoding == nil)
        #expect(serializer.httpMethodsEncodingParametersInURI == ["GET", "HEAD", "DELETE"])

        let request = try serializer.get(nil)

        #expect(request.contents.explicitTimeout == nil && request.contents.explicitCachePolicy == nil)
        #expect(request.contents.explicitPipelining == nil && request.contents.limits.value.serviceType == nil)
    }

    @Test("14 requests: what was set is put on requests, also if it is the default")
    func touched() throws {
        serializer.allowsCellularAccess = false
        serializer.httpShouldHandleCookies = false
        serializer.cachePolicy = .useProtocolCachePolicy
        serializer.httpShouldUsePipelining = false
        serializer.networkServiceType = .default
        serializer.timeoutInterval = 60
        serializer.bodyCoding = .identity

        let request = try serializer.get(nil)

        #expect(!request.allowsCellularAccess && !request.httpShouldHandleCookies)
        #expect(
            request.contents.explicitTimeout == 60 && request.contents.explicitCachePolicy == .useProtocolCachePolicy
        )
        #expect(request.contents.explicitPipelining == false && request.contents.limits.value.serviceType == 0)
        #expect(request.bodyCoding == .identity)
    }

    @Test("a request that is serialized keeps its own fields")
    func bySerializing() throws {
        serializer.timeoutInterval = 5
        serializer.setValue("serializer", forHTTPHeaderField: "X-Test")
        var request = URLRequest(url: try #require(URL(string: "http://api.test/")))
        request.httpMethod = "PUT"
        request.setValue("request", forHTTPHeaderField: "x-test")
        request.setValue("text/own", forHTTPHeaderField: "Content-Type")

        let made = try serializer.request(bySerializing: request, withParameters: ["a": 1])

        #expect(made.contents.explicitTimeout == nil)
        #expect(made.value(forHTTPHeaderField: "X-Test") == "request")
        #expect(made.contentType == "text/own" && made.bodyText == "a=1")
    }

    @Test("14 requests: a content type of the serializer's is kept")
    func ownContentType() throws {
        serializer.setValue("text/own", forHTTPHeaderField: "content-type")

        #expect(try serializer.post(["a": 1]).contentType == "text/own")
        #expect(try JSONRequestSerializer.with(contentType: "text/own").post(["a": 1]).contentType == "text/own")
    }

    // MARK: - Authorization

    @Test("user name and password are one line of base64")
    func authorization() {
        serializer.setAuthorizationHeaderFieldWithUsername("Aladdin", password: "open sesame")
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")

        let long = String(repeating: "ü", count: 300)
        serializer.setAuthorizationHeaderFieldWithUsername(long, password: long)
        let value = serializer.value(forHTTPHeaderField: "Authorization") ?? ""
        #expect(Data(base64Encoded: String(value.dropFirst(6))) == Data("\(long):\(long)".utf8))

        serializer.clearAuthorizationHeader()
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == nil)
    }

    // MARK: - On the wire

    @Test(
        "header fields that would break the request are not sent, and the error names them",
        arguments: [
            ("X-Test", "a\r\nX-Evil: 1"), ("X-Test", "a\nb"), ("X-Test", "a\rb"), ("X-Test", "a\0b"),
            ("X-Te\r\nst", "a"), ("X Test", "a"), ("", "a"), ("X-Test:", "a"),
        ]
    )
    func badFields(name: String, value: String) async throws {
        let server = try TestServer()
        let session = URLSession(configuration: .ephemeral)
        serializer.setValue(value, forHTTPHeaderField: name)
        let request = try serializer.get(nil, from: server.url("/").absoluteString)

        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }

        let failure = try #require(error?.loadFailure)
        #expect(failure.reason == .request && failure.detail == .header)
        #expect(failure.message.contains("header field") && !failure.message.contains("\n"), "\(failure.message)")
        if name == "X-Test" { #expect(failure.message.contains("X-Test"), "\(failure.message)") }
        #expect(server.acceptedConnections == 0)
    }

    @Test("queries and forms arrive as they were meant")
    func endToEnd() async throws {
        let server = try TestServer()
        server.install(.echo)
        let session = URLSession(configuration: .ephemeral)
        let parameters: [String: Any] = ["name": "Ada & Bob", "tags": ["a", "é"], "deep": ["x": [1: true]]]

        let query = try serializer.get(parameters, from: server.url("/get").absoluteString)
        let form = try serializer.post(parameters, to: server.url("/post").absoluteString)
        _ = try await session.data(for: query)
        _ = try await session.data(for: form)

        let received = server.requests
        let names = ["deep[x][1]", "name", "tags[]", "tags[]"]
        #expect(received[0].queryItems.map(\.name) == names)
        #expect(received[0].queryItems.map(\.value) == ["1", "Ada & Bob", "a", "é"])
        #expect(received[1].bodyText == received[0].query)
        #expect(received[1].headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(received[0].headers["User-Agent"] == serializer.value(forHTTPHeaderField: "User-Agent"))
    }
}

extension JSONRequestSerializer {
    fileprivate static func with(contentType: String) -> JSONRequestSerializer {
        let serializer = JSONRequestSerializer()
        serializer.setValue(contentType, forHTTPHeaderField: "Content-Type")
        return serializer
    }
}
