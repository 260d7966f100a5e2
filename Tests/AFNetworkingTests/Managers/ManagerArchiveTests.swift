@testable import AFNetworking

/// A serializer of the program's: private classes cannot be archived.
final class WordSerializer: NSObject, URLResponseSerialization {
    override init() {}

    static var supportsSecureCoding: Bool { true }

    init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}

    func copy(with zone: NSZone? = nil) -> Any { WordSerializer() }

    func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? { "a word" }
}

/// A manager that reads values of its own, as one of a program does.
final class ReadingManager: HTTPSessionManager, @unchecked Sendable {
    let read: [AnyHashable?]

    required init?(coder: NSCoder) {
        let bytes = coder.withDecodedUnsafeBufferPointer(forKey: "bytes") { $0?.count }
        read = [
            coder.decodeObject(of: NSString.self, forKey: "text"), coder.decodeObject(forKey: "object") as? NSString,
            coder.decodeBool(forKey: "flag"), coder.decodeInteger(forKey: "number"),
            coder.decodeDouble(forKey: "double"), bytes,
        ]
        super.init(coder: coder)
    }
}

/// What the archive and the copy of a manager, or an operation, keep.
@Suite struct ManagerArchiveTests {
    /// Pins that no server of the tests has.
    private static func wrongRules(until end: Date? = nil) throws -> [HostRule] {
        let key = Pin.publicKey(try CertificateAuthority().certificate.pin)
        let expiry = end.map { PinSet.Expiry($0, .failClosed) }
        return [try HostRule.pins("127.0.0.1", PinSet([key], expiry: expiry))]
    }

    private static func archived<Root: NSObject & NSCoding>(_ root: Root) throws -> Root? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Root.self, from: data)
    }

    @Test func `6.5 the copy of a manager pins what was pinned by a change of its policy in place`() async throws {
        let site = try ManagerSite(tls: true)
        let manager = site.manager
        manager.securityPolicy.hostRules = try Self.wrongRules()
        let copy = site.owned(try #require(manager.copy() as? HTTPSessionManager))

        let failure = await #expect(throws: RequestFailure.self) { try await copy.get("get") }
        #expect((failure?.error as NSError?)?.code == -1202)
        #expect(copy.securityPolicy !== manager.securityPolicy && site.server.requests.isEmpty)
    }

    @Test func `6.5 an evaluator of the configuration decides in the copy too`() async throws {
        let site = try ManagerSite(tls: true)
        let configuration = site.configuration
        let strict = SecurityPolicy()
        strict.hostRules = try Self.wrongRules()
        configuration.tls.evaluator = strict
        let manager = site.owned(HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: configuration))
        let copy = site.owned(try #require(manager.copy() as? HTTPSessionManager))

        await #expect(throws: RequestFailure.self) { try await copy.get("get") }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `6.5 a manager with a serializer of one's own can be read, without it`() async {
        await #expect(processExitsWith: .success) {
            let manager = HTTPSessionManager(baseURL: URL(string: "https://example.com/"))
            manager.responseSerializer = WordSerializer()
            let read = try ManagerArchiveTests.archived(manager)
            #expect(read?.baseURL == manager.baseURL && read?.responseSerializer is JSONResponseSerializer)
        }
    }

    @Test func `6.5 operations and their manager can be read without a serializer of one's own`() async {
        await #expect(processExitsWith: .success) {
            let sessions = HTTPSessionManager(baseURL: nil)
            sessions.responseSerializer = WordSerializer()
            let adapted: HTTPResponseSerializer = sessions.responseSerializer
            let url = try #require(URL(string: "https://example.com/"))
            let operations = HTTPRequestOperationManager(baseURL: url)
            operations.responseSerializer = adapted
            let read = try ManagerArchiveTests.archived(operations)
            #expect(read?.baseURL == url && read?.responseSerializer is JSONResponseSerializer)
            let operation = HTTPRequestOperation(request: URLRequest(url: url))
            operation.responseSerializer = adapted
            #expect(try ManagerArchiveTests.archived(operation)?.request.url == url)
        }
    }

    @Test func `6.5 making and copying managers writes nothing to standard error`() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent, \.exitStatus]
        ) {
            let managers: [any NSObject & NSCopying] = [
                HTTPSessionManager.manager(), ReadingManager.manager(), URLSessionManager(),
                HTTPRequestOperationManager.manager(), HTTPSessionManager(baseURL: URL(string: "https://example.com/")),
            ]
            for manager in managers { _ = manager.copy() }
            #expect(ReadingManager.manager().read == [nil, nil, false, 0, 0.0, nil])
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.split(separator: "\n").filter { $0.contains("Unarchiver") || $0.contains("corrupt") } == [])
    }

    @Test func `6.5 infinite timeouts are archived, with all other settings`() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = .infinity
        configuration.httpAdditionalHeaders = ["X-Mine": "mine"]
        let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: configuration)
        let read = try #require(try Self.archived(manager)).sessionConfiguration
        #expect(read.timeoutIntervalForResource == .infinity)
        #expect(read.httpAdditionalHeaders?["X-Mine"] as? String == "mine")

        var request = try URLRequest(url: #require(URL(string: "http://example.com/")))
        request.timeoutInterval = .infinity
        let operation = try #require(try Self.archived(HTTPRequestOperation(request: request)))
        #expect(operation.request.url == request.url && operation.request.timeoutInterval == .infinity)
    }

    @Test func `6.5 pins with an infinite expiry are archived`() throws {
        let rules = try Self.wrongRules(until: Date(timeIntervalSinceReferenceDate: .infinity))
        let manager = HTTPSessionManager(baseURL: nil)
        let operations = HTTPRequestOperationManager(baseURL: nil)
        for policy in [manager.securityPolicy, operations.securityPolicy] { policy.hostRules = rules }

        #expect(try Self.archived(manager)?.securityPolicy.hostRules == rules)
        #expect(try Self.archived(operations)?.securityPolicy.hostRules == rules)
    }
}
