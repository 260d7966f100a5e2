import Dispatch

@testable import AFNetworking

@Suite("HTTPRequestOperationManager")
struct HTTPRequestOperationManagerTests {
    private let server: TestServer
    private let manager: HTTPRequestOperationManager

    init() throws {
        server = try TestServer()
        server.route("*", "/v1/echo") { request in
            .json(#"{"method": "\#(request.method)", "target": "\#(request.target)", "body": "\#(request.bodyText)"}"#)
        }
        server.route("*", "/v1/form") { request in .json(#"{"type": "\#(request.headers["Content-Type"] ?? "")"}"#) }
        manager = HTTPRequestOperationManager(baseURL: server.url("/v1"))
    }

    private typealias Verb = (
        String, Any?, HTTPRequestOperationManager.Success?, HTTPRequestOperationManager.Failure?
    ) -> HTTPRequestOperation?

    private func object(_ path: String, _ verb: Verb) async throws -> [String: String] {
        let results = Heard<[String: String]>()
        let operation = verb(path, ["a": "1"]) { _, object in
            results.add(object as? [String: String] ?? [:])
        } _: { _, error in
            results.add(["error": "\(error)"])
        }
        #expect(operation != nil)
        return try await results.wait(for: 1)[0]
    }

    @Test("4 each verb sends what it says, resolved against the base URL")
    func verbs() async throws {
        let get = try await object("echo", manager.get)
        #expect(get == ["method": "GET", "target": "/v1/echo?a=1", "body": ""])
        #expect(try await object("echo", manager.delete)["target"] == "/v1/echo?a=1")
        #expect(try await object("echo", manager.post) == ["method": "POST", "target": "/v1/echo", "body": "a=1"])
        #expect(try await object("echo", manager.put)["method"] == "PUT")
        #expect(try await object("echo", manager.patch)["method"] == "PATCH")
        let form = try await object("form") { path, parameters, success, failure in
            manager.post(path, parameters: parameters, constructingBodyWith: nil, success: success, failure: failure)
        }
        #expect(form["type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test("4 the success block of a HEAD gets the operation only")
    func head() async throws {
        let calls = Heard<Int>()
        manager.responseSerializer = HTTPResponseSerializer()
        manager.head("echo", parameters: nil) {
            calls.add($0.response?.statusCode ?? 0)
        } failure: { _, _ in
            calls.add(-1)
        }
        #expect(try await calls.wait(for: 1) == [200])
    }

    @Test("16 4 a request that cannot be made is a failure on the completion queue, and nothing is enqueued")
    func unserializable() async throws {
        let queue = DispatchQueue(label: "completion")
        manager.completionQueue = queue
        manager.requestSerializer = JSONRequestSerializer()
        manager.operationQueue.isSuspended = true
        let calls = Heard<Bool>()

        let operation = manager.post("echo", parameters: ["a": Double.nan], success: nil) { operation, error in
            dispatchPrecondition(condition: .onQueue(queue))
            calls.add(operation == nil && (error as NSError).domain == HTTPRequestSerializer.errorDomain)
        }

        #expect(operation == nil && manager.operationQueue.operationCount == 0)
        #expect(try await calls.wait(for: 1) == [true])
    }

    @Test("4 an operation gets the settings of the manager, and is not enqueued")
    func made() throws {
        manager.credential = URLCredential(user: "a", password: "b", persistence: .none)
        manager.shouldUseCredentialStorage = false
        manager.completionQueue = DispatchQueue(label: "q")
        manager.completionGroup = DispatchGroup()

        let operation = manager.httpRequestOperation(
            with: URLRequest(url: server.url("/v1/echo")),
            success: nil,
            failure: nil
        )

        #expect(operation.isReady && manager.operationQueue.operationCount == 0)
        #expect(operation.credential === manager.credential && !operation.shouldUseCredentialStorage)
        #expect(operation.completionQueue === manager.completionQueue)
        #expect(operation.completionGroup === manager.completionGroup)
        #expect(operation.securityPolicy === manager.securityPolicy)
        #expect(operation.responseSerializer is JSONResponseSerializer)
    }

    private final class Special: HTTPRequestOperation, @unchecked Sendable {}
    private final class Token: Sendable {}

    @Test func `an operation that never starts is released with its blocks`() {
        weak var made: HTTPRequestOperation?
        weak var special: HTTPRequestOperation?
        weak var held: Token?
        do {
            let (request, token) = (URLRequest(url: server.url("/v1/echo")), Token())
            let first = manager.httpRequestOperation(
                with: request,
                success: { _, _ in withExtendedLifetime(token) {} },
                failure: nil
            )
            let second = Special(request: request)
            second.setCompletionBlockWithSuccess({ _, _ in }, failure: nil)
            (made, special, held) = (first, second, token)
            #expect(first.completionBlock != nil && second.completionBlock != nil)
        }
        #expect(made == nil && special == nil && held == nil)
    }

    @Test func `a batch that is never enqueued is released`() {
        weak var held: HTTPRequestOperation?
        do {
            let request = URLRequest(url: server.url("/v1/echo"))
            let operations = (1...3).map { _ in HTTPRequestOperation(request: request) }
            held = operations[1]
            let batch = URLConnectionOperation.batchOfRequestOperations(
                operations,
                progressBlock: { _, _ in },
                completionBlock: { _ in }
            )
            #expect(batch.count == 4)
        }
        #expect(held == nil)
    }

    @Test("4 a copy has base URL, serializers and policy, and a queue of its own; so has what is read")
    func copied() throws {
        manager.responseSerializer = HTTPResponseSerializer()
        manager.credential = URLCredential(user: "a", password: "b", persistence: .none)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPRequestOperationManager.self, from: archive)

        for other in [manager.copy() as? HTTPRequestOperationManager, read] {
            let other = try #require(other)
            #expect(other.baseURL == manager.baseURL && other.operationQueue !== manager.operationQueue)
            #expect(type(of: other.responseSerializer) == HTTPResponseSerializer.self)
            #expect(other.requestSerializer !== manager.requestSerializer && other.credential == nil)
        }
        #expect(manager.description.contains("/v1/"))
    }

    @Test("4 new managers: no base URL, JSON, the shared reachability manager")
    func defaults() {
        for manager in [HTTPRequestOperationManager(), HTTPRequestOperationManager.manager()] {
            #expect(manager.baseURL == nil && manager.responseSerializer is JSONResponseSerializer)
            #expect(manager.shouldUseCredentialStorage && manager.credential == nil)
            #expect(manager.reachabilityManager === NetworkReachabilityManager.shared)
        }
    }
}
