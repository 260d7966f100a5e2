import Dispatch

/// How long the work of an operation holds it.
@Suite struct OperationLifeTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/hello", .text("hello"))
    }

    @Test("2.4 an operation is released when its block was called, even if others are busy", arguments: [true, false])
    func released(isHTTP: Bool) async throws {
        let idle = DispatchQueue(label: "never served", attributes: .initiallyInactive)
        defer { idle.activate() }
        let busy = URLConnectionOperation(request: URLRequest(url: server.url("/hello")))
        busy.completionQueue = idle
        busy.completionBlock = {}
        busy.start()
        try await busy.ended()

        let calls = Heard<Bool>()
        weak var forgotten: URLConnectionOperation?
        do {
            let request = URLRequest(url: server.url("/hello"))
            let operation = isHTTP ? HTTPRequestOperation(request: request) : URLConnectionOperation(request: request)
            forgotten = operation
            if let operation = operation as? HTTPRequestOperation {
                operation.setCompletionBlock { _, _ in
                    calls.add(true)
                } failure: { _, _ in
                    calls.add(false)
                }
            } else {
                operation.completionBlock = { [operation] in calls.add(operation.isFinished) }
            }
            operation.start()
        }
        #expect(try await calls.wait(for: 1) == [true])
        try await eventually("the end of an operation", seconds: 10) { forgotten == nil }
    }
}
