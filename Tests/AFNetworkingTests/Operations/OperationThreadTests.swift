import AFBase
import Dispatch

@testable import AFNetworking

@Suite("Where operations call back")
struct OperationThreadTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/1", ServerReply.status(302).header("Location", "/kept"))
        server.route("GET", "/kept", ServerReply.text("kept").header("Cache-Control", "max-age=1000"))
    }

    private static func networkThread() async throws -> ObjectIdentifier {
        let found = Heard<ObjectIdentifier>()
        URLConnection.perform(onNetworkThreadIn: [.common]) { found.add(ObjectIdentifier(Thread.current)) }
        return try await found.wait(for: 1)[0]
    }

    private func operation(_ seen: Heard<ObjectIdentifier>) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url("/1")))
        operation.setRedirectResponseBlock { _, request, _ in
            seen.add(ObjectIdentifier(Thread.current))
            return request
        }
        operation.setCacheResponseBlock { _, _ in
            seen.add(ObjectIdentifier(Thread.current))
            return nil
        }
        return operation
    }

    @Test("1.2 14 operations: one thread, made once, calls the redirect and cache blocks of all operations")
    func networkThread() async throws {
        let thread = try await Self.networkThread()
        let seen = Heard<ObjectIdentifier>()
        let operations = (0..<5).map { _ in operation(seen) }

        for operation in operations { operation.start() }
        for operation in operations { try await operation.ended() }

        #expect(seen.all.count == 15 && Set(seen.all) == [thread])
        #expect(try await Self.networkThread() == thread)
    }

    @Test("1.2 an operation with an output stream of one's own never blocks the network thread")
    func ownQueue() async throws {
        let thread = try await Self.networkThread()
        let seen = Heard<ObjectIdentifier>()
        let operation = operation(seen)
        operation.outputStream = OutputStream(toMemory: ())

        operation.start()
        try await operation.ended()

        #expect(seen.all.count == 3 && !seen.all.contains(thread) && operation.error == nil)
    }

    private final class WhereAmI: HTTPResponseSerializer, @unchecked Sendable {
        let seen = Heard<Bool>()

        override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
            dispatchPrecondition(condition: .onQueue(HTTPRequestOperation.processingQueue))
            seen.add(true)
            return data
        }
    }

    @Test func `handlers of a quick serializer are called on the completion queue in its group`() async throws {
        let (queue, group) = (DispatchQueue(label: "own"), DispatchGroup())
        let calls = Heard<String>()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url("/kept")))
        (operation.completionQueue, operation.completionGroup) = (queue, group)
        operation.setCompletionBlock { _, _ in
            dispatchPrecondition(condition: .onQueue(queue))
            calls.add("success")
        } failure: { _, error in
            calls.add("\(error)")
        }

        operation.start()
        #expect(try await calls.wait(for: 1) == ["success"])
        group.notify(queue: .global()) { calls.add("group") }
        #expect(try await calls.wait(for: 2) == ["success", "group"])
        try await eventually("the release of the block") { operation.completionBlock == nil }
    }

    /// An operation of the program's that loads nothing and finishes in its own way.
    private final class OwnEnd: HTTPRequestOperation, @unchecked Sendable {
        private let isOver = Lock(false)

        override var isFinished: Bool { isOver.withLock { $0 } }

        override func start() {
            isOver.withLock { $0 = true }
            didChangeValue(forKey: "isFinished")
        }
    }

    private final class Plain: HTTPRequestOperation, @unchecked Sendable {}

    @Test func `the completion block of any subclass is called once, however it finishes`() async throws {
        for kind in [HTTPRequestOperation.self, Plain.self, OwnEnd.self] {
            let (queue, calls) = (OperationQueue(), Heard<Int>())
            let operation = kind.init(request: URLRequest(url: server.url("/kept")))
            operation.completionBlock = { calls.add(1) }
            queue.addOperation(operation)
            #expect(try await calls.wait(for: 1) == [1])
            await mainQueueSettled()
            await mainQueueSettled()
            #expect(calls.all == [1] && operation.completionBlock == nil, "\(kind)")
        }
    }

    @Test func `the completion block that is read calls the given one on the completion queue`() async throws {
        let (queue, calls) = (DispatchQueue(label: "own"), Heard<Int>())
        let operation = URLConnectionOperation(request: URLRequest(url: server.url("/kept")))
        operation.completionQueue = queue
        operation.completionBlock = {
            dispatchPrecondition(condition: .onQueue(queue))
            calls.add(1)
        }
        let read = try #require(operation.completionBlock)

        read()
        #expect(try await calls.wait(for: 1) == [1])
        operation.start()
        #expect(try await calls.wait(for: 2) == [1, 1])
    }

    @Test(
        "1.2 responses are serialized on the processing queue, and blocks called on the completion queue in its group"
    )
    func queues() async throws {
        #expect(HTTPRequestOperation.processingQueue.label == "com.alamofire.networking.http-request.processing")
        let (queue, group) = (DispatchQueue(label: "own"), DispatchGroup())
        let serializer = WhereAmI()
        let calls = Heard<String>()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url("/kept")))
        operation.responseSerializer = serializer
        operation.completionQueue = queue
        operation.completionGroup = group
        operation.setCompletionBlock { _, _ in
            dispatchPrecondition(condition: .onQueue(queue))
            calls.add("success")
        } failure: { _, error in
            calls.add("\(error)")
        }

        operation.start()
        try await operation.ended()
        try await serializer.seen.wait(for: 1)
        group.notify(queue: .global()) { calls.add("group") }

        #expect(try await calls.wait(for: 2) == ["success", "group"])
    }
}
