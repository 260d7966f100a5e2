import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about settings, and its tables.
@Suite struct SettingsTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `the page of settings has each public one, and no other`() throws {
        let page = try Repository.text("Sources/AFNetworking/AFNetworking.docc/Settings.md")
        let files = try Repository.files(in: "Sources/AFURLSession/Configuration", endingWith: ".swift")
        let names = try files.flatMap { file in
            try Repository.text(file).matches(of: /\n    public var (\w+):/).map { String($0.output.1) }
        }
        // These stand elsewhere.
        let others = ["requestInterceptors", "protocolClasses"]

        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let listed = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.output.1) }
        }

        #expect(names.count > 50)
        #expect(names.filter { !page.contains("`\($0)`") } == [])
        #expect(listed.filter { !(names + others).contains($0) } == [])
    }

    @Test func `the configuration of the page makes a session`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        configuration.timeoutIntervalForResource = 120
        configuration.connectTimeout = 5
        configuration.maximumConnections = 100
        configuration.addressFilter = .publicAddressesOnly
        configuration.strictTransportSecurity = HSTSStore()
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }

        let error = await #expect(throws: URLError.self) { try await session.data(from: site.url("/text")) }
        #expect(error?.code == .cannotConnectToHost && site.server.requests.isEmpty)
    }

    private struct Registry {
        func addresses(of host: String, _ kind: String) async throws -> NameResolver.Answer {
            NameResolver.Answer(host == "api.test" && kind == "A" ? ["127.0.0.1"] : [], timeToLive: .seconds(30))
        }
    }

    @Test func `the program looks names up, and connects before its requests`() async throws {
        let (registry, configuration) = (Registry(), site.configuration)
        let url = try #require(URL(string: "http://api.test:\(site.server.port)/bytes/2"))

        configuration.nameResolver = NameResolver(
            ipv4: { question in try await registry.addresses(of: question.host, "A") },
            ipv6: { question in try await registry.addresses(of: question.host, "AAAA") }
        )

        let session = site.owned(URLSession(configuration: configuration))
        try await session.connect(to: url, count: 2)
        try await site.server.waitForConnections(2)
        #expect(site.server.requests.isEmpty)
        let (_, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 200 && site.server.acceptedConnections == 2)

        configuration.minimumIdleConnections = [url: 2]

        _ = site.owned(URLSession(configuration: configuration))
        try await site.server.waitForConnections(4)
    }

    @Test func `the table of TLS has each setting`() throws {
        let page = try Repository.text("Sources/AFNetworking/AFNetworking.docc/Settings.md")
        let names = Mirror(reflecting: TLSConfiguration()).children.compactMap(\.label)

        #expect(names.count == 10)
        #expect(names.filter { !page.contains("`tls.\($0)`") } == [])
    }

    @Test func `a server chooses among the suites of the list`() async throws {
        let site = try Site(tls: true)
        let configuration = site.configuration
        configuration.tls.maximumVersion = .v1_2

        configuration.tls.securityLevel = 3
        configuration.tls.ciphers = "ECDHE+AESGCM"
        configuration.tls.resumesSessions = false

        let session = site.owned(URLSession(configuration: configuration))
        let (_, response) = try await session.data(from: site.url("/bytes/1"))
        let offered = site.server.connections.first?.tls?.offeredCipherSuites
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(offered?.contains(0xC02F) == true && offered?.contains(0xCCA8) == false)
    }

    @Test func `a task that waits has a priority`() async throws {
        site.server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
        let configuration = site.configuration
        configuration.httpMaximumConnectionsPerHost = 1
        let session = site.owned(URLSession(configuration: configuration))
        let (ended, url) = (Heard<String>(), site.url("/bytes/2"))
        func start(_ path: String) {
            session.dataTask(with: site.url(path)) { _, _, _ in ended.add(path) }.resume()
        }
        start("/held")
        _ = try await site.server.waitForRequests(1)
        start("/bytes/1")

        let task = session.dataTask(with: url)
        task.priority = URLSessionTask.highPriority
        task.resume()

        start("/bytes/3")
        // Answered when the network thread has all of them.
        _ = await session.allTasks
        site.server.signal("go")
        try await ended.wait(for: 3)
        #expect(site.server.requests.map(\.target) == ["/held", "/bytes/2", "/bytes/1", "/bytes/3"])
    }

    // MARK: - Fields

    private func lastFields() -> [String: String] {
        let fields = site.server.requests.last?.headers.fields.map { ($0.name, $0.value) } ?? []
        return Dictionary(fields) { $0 + ", " + $1 }
    }

    @Test func `the fields of the page are sent, and no others`() async throws {
        let session = site.session
        _ = try await session.data(from: site.url("/bytes/1"))
        let plain = lastFields()

        var request = URLRequest(url: site.url("/bytes/1"))
        request.setValue("bytes=0-0", forHTTPHeaderField: "Range")
        _ = try await session.data(for: request)
        let ranged = lastFields()

        request = URLRequest(url: site.url("/post"))
        request.httpMethod = "POST"
        request.httpBody = Data("a=b".utf8)
        _ = try await session.data(for: request)
        let posted = lastFields()

        let common = ["Host", "User-Agent", "Accept", "Accept-Encoding"]
        let program = ProcessInfo.processInfo.processName
        #expect(Set(plain.keys) == Set(common))
        #expect(plain["User-Agent"]?.hasPrefix("\(program)/1 swift-afnetworking/") == true && plain["Accept"] == "*/*")
        #expect(plain["Accept-Encoding"]?.hasPrefix("gzip, deflate") == true)
        #expect(ranged["Accept-Encoding"] == "identity")
        #expect(Set(posted.keys) == Set(common + ["Content-Length", "Content-Type"]))
        #expect(posted["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `the name of the program is the caller's`() async throws {
        let (configuration, manager) = (site.configuration, site.manager)
        var request = URLRequest(url: site.url("/bytes/1"))

        configuration.httpAdditionalHeaders = ["User-Agent": "Weather/2.1"]
        let session = site.owned(URLSession(configuration: configuration))
        _ = try await session.data(for: request)
        #expect(lastFields()["User-Agent"] == "Weather/2.1")

        request.setValue("Weather/2.1 (test)", forHTTPHeaderField: "User-Agent")
        _ = try await session.data(for: request)
        #expect(lastFields()["User-Agent"] == "Weather/2.1 (test)")

        request.setValue(nil, forHTTPHeaderField: "User-Agent")
        request.withheldHeaderFields = ["User-Agent", "Accept-Encoding"]
        _ = try await session.data(for: request)
        #expect(Set(lastFields().keys) == ["Host", "Accept"])

        manager.responseSerializer = HTTPResponseSerializer()
        try await manager.get("bytes/1")
        #expect(lastFields()["User-Agent"]?.contains(" (Linux ") == true)
        manager.requestSerializer.setValue("Weather/2.1", forHTTPHeaderField: "User-Agent")
        try await manager.get("bytes/1")
        #expect(lastFields()["User-Agent"] == "Weather/2.1")
    }
}
