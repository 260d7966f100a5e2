import AFBase
import Dispatch

@testable import AFNetworking

@Suite("URLConnectionOperation")
struct URLConnectionOperationTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/hello", .text("hello"))
        server.route("*", "/held", ServerReply.text("hello").held(until: "go"))
    }

    private func operation(_ path: String = "/hello") -> URLConnectionOperation {
        URLConnectionOperation(request: URLRequest(url: server.url(path)))
    }

    /// Answers the first request with a part, and all others with the whole, which it returns.
    private func stallOnce(_ path: String) -> String {
        let content = String(repeating: "0123456789", count: 20_000)
        let requests = Heard<Int>()
        server.route("GET", path) { _ in
            requests.add(1)
            return requests.all.count == 1 ? ServerReply.text(content).stalling(after: 50_000) : .text(content)
        }
        return content
    }

    // MARK: - Running

    @Test("2.1 a finished operation has response, data and text; before, nothing")
    func finished() async throws {
        let operation = operation()
        #expect(operation.isReady && !operation.isExecuting && !operation.isFinished && operation.isAsynchronous)
        #expect(operation.responseData == nil && operation.response == nil && operation.responseString == nil)

        operation.start()
        #expect(operation.isExecuting || operation.isFinished)
        try await operation.ended()

        #expect(operation.responseData == Data("hello".utf8) && operation.responseString == "hello")
        #expect((operation.response as? HTTPURLResponse)?.statusCode == 200 && operation.error == nil)
        // 14 operations: neither connection nor memory stream is kept.
        #expect(operation.state.withLock { $0.connection == nil && $0.sink == nil })
    }

    @Test("15.11 a queue of width 1 runs operations one after the other, and is done when they are")
    func queue() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = (0..<5).map { _ in operation() }
        operations[0].addDependency(operations[4])

        queue.add(operations)
        try await eventually("an empty queue") { queue.operationCount == 0 }

        #expect(operations.allSatisfy { $0.responseString == "hello" && $0.isFinished })
    }

    @Test("14 operations: requests without a URL and for files do not crash")
    func unusual() async throws {
        var nowhere = URLRequest(url: server.url())
        nowhere.url = nil
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("text")
        try Data("content".utf8).write(to: file)
        let (lost, local) = (
            URLConnectionOperation(request: nowhere), URLConnectionOperation(request: URLRequest(url: file))
        )

        lost.start()
        local.start()
        try await lost.ended()
        try await local.ended()

        #expect(lost.error?.urlCode == NSURLErrorUnsupportedURL)
        #expect(local.responseString == "content" && local.response as? HTTPURLResponse == nil)
        #expect(local.response != nil)
    }

    @Test("1.2 2.4 the completion block is called on the main queue, or on the one that was set, and released")
    func completion() async throws {
        let calls = Heard<String>()
        let own = DispatchQueue(label: "own")
        weak var released: Heard<Int>?
        do {
            let held = Heard<Int>()
            released = held
            for queue in [nil, own] {
                let operation = operation()
                operation.completionQueue = queue
                operation.completionBlock = {
                    dispatchPrecondition(condition: .onQueue(queue ?? .main))
                    held.add(1)
                    calls.add(operation.responseString ?? "nothing")
                }
                operation.start()
            }
            try await calls.wait(for: 2)
        }

        #expect(calls.all == ["hello", "hello"])
        try await eventually("the blocks to go") { released == nil }
    }

    @Test("2.4 the completion block is called even if the program has released the operation")
    func unheld() async throws {
        let calls = Heard<Int>()
        weak var released: URLConnectionOperation?
        do {
            let operation = operation()
            released = operation
            operation.completionBlock = { calls.add(1) }
            operation.start()
        }
        try await calls.wait(for: 1)
        try await eventually("the operation to go") { released == nil }
    }

    @Test("1.2 2.6 14 operations: progress is told on the main queue, and adds up")
    func progress() async throws {
        server.route("POST", "/big", .stream(.repeating("x", count: 1_000_000)))
        var request = URLRequest(url: server.url("/big"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 1, count: 500_000)
        let operation = URLConnectionOperation(request: request)
        let (up, down) = (Heard<[Int64]>(), Heard<[Int64]>())
        operation.setUploadProgressBlock { count, total, expected in
            dispatchPrecondition(condition: .onQueue(.main))
            up.add([Int64(count), total, expected])
        }
        #expect(operation.uploadProgressBlock != nil && operation.downloadProgressBlock == nil)
        operation.setDownloadProgressBlock { down.add([Int64($0), $1, $2]) }

        operation.start()
        try await operation.ended()
        try await eventually("all progress") { down.all.last?[1] == 1_000_000 }

        #expect(up.all.last?[1] == 500_000 && up.all.allSatisfy { $0[2] == 500_000 })
        #expect(up.all.reduce(0) { $0 + $1[0] } == 500_000)
        #expect(down.all.reduce(0) { $0 + $1[0] } == 1_000_000 && down.all.allSatisfy { $0[2] == 1_000_000 })
    }

    @Test("1.3 13.13.15 13.13.16 start and finish are announced on the main queue, also when it fails")
    func notifications() async throws {
        let good = operation()
        let bad = URLConnectionOperation(request: URLRequest(url: URL(string: "http://127.0.0.1:1/") ?? server.url()))
        for operation in [good, bad] {
            let announcements = Announcements(of: operation)
            operation.start()
            #expect(try await announcements.all.wait(for: 2) == ["start", "finish"])
        }
    }

    // MARK: - Cancelling

    @Test("14 operations: cancelled before it starts it fails when it is started, and finishes once")
    func cancelledBefore() async throws {
        let operation = operation()
        let announcements = Announcements(of: operation)
        operation.cancel()
        #expect(operation.isCancelled && !operation.isFinished && operation.isReady)

        operation.start()
        try await operation.ended()

        #expect(operation.error?.urlCode == NSURLErrorCancelled && !operation.isExecuting)
        // 16 2.8: no finish is posted for an operation that never started.
        await mainQueueSettled()
        #expect(announcements.all.all.isEmpty && server.requests.isEmpty)
    }

    @Test("2.3 cancelled in its queue it fails there, and the queue goes on")
    func cancelledInQueue() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (first, second, third) = (operation("/held"), operation(), operation())
        queue.add([first, second, third])
        try await server.waitForRequests(1)

        second.cancel()
        server.signal("go")
        try await third.ended()

        #expect(second.error?.urlCode == NSURLErrorCancelled && second.responseData == nil)
        #expect(first.responseString == "hello" && third.responseString == "hello")
    }

    @Test("16 2.8 a paused operation that is cancelled finishes, with -999")
    func cancelledPaused() async throws {
        let operation = operation("/held")
        let announcements = Announcements(of: operation)
        operation.start()
        try await server.waitForRequests(1)
        operation.pause()

        operation.cancel()
        try await operation.ended()

        #expect(operation.error?.urlCode == NSURLErrorCancelled)
        #expect(try await announcements.all.wait(for: 2) == ["start", "finish"])
        await mainQueueSettled()
        #expect(announcements.all.all.count == 2)
    }

    @Test("16 2.8 paused in its queue and cancelled, it does not hold up the queue")
    func cancelledPausedInQueue() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let (first, second) = (operation(), operation())
        queue.add([first, second])
        first.pause()
        #expect(first.isPaused && !first.isReady)
        first.cancel()
        queue.isSuspended = false

        try await first.ended()
        try await second.ended()

        #expect(first.error?.urlCode == NSURLErrorCancelled && second.responseString == "hello")
    }

    /// The network thread never runs in it: such an operation loads nothing.
    private static let foreignMode = RunLoop.Mode("of the program")

    @Test("2.8 in a mode that the network thread never runs in, cancelling is the end in every state")
    func cancelledInForeignMode() async throws {
        let steps: [(String, (URLConnectionOperation) -> Void)] = [
            (
                "before the start",
                {
                    $0.cancel(); $0.start()
                }
            ),
            (
                "executing",
                {
                    $0.start(); $0.cancel()
                }
            ),
            (
                "paused",
                {
                    $0.start(); $0.pause(); $0.cancel()
                }
            ),
            (
                "paused before the start",
                {
                    $0.pause(); $0.start(); $0.cancel()
                }
            ),
            (
                "resumed",
                {
                    $0.start(); $0.pause(); $0.resume(); $0.cancel()
                }
            ),
        ]
        for (name, disturb) in steps {
            for hasStream in [false, true] {
                let operation = operation()
                if hasStream { operation.outputStream = OutputStream(toMemory: ()) }
                operation.runLoopModes = [Self.foreignMode]
                let calls = Heard<Int?>()
                operation.completionQueue = .global()
                operation.completionBlock = { calls.add(operation.error?.urlCode) }

                disturb(operation)
                try await operation.ended()

                #expect(try await calls.wait(for: 1) == [NSURLErrorCancelled], "\(name), stream: \(hasStream)")
                #expect(operation.isCancelled && !operation.isExecuting && !operation.isPaused)
            }
        }
    }

    @Test("2.8 cancelled in a queue and in a foreign mode it does not hold up the queue")
    func cancelledInQueueAndForeignMode() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (first, second) = (operation(), operation())
        first.runLoopModes = [Self.foreignMode]
        queue.add([first, second])
        try await eventually("the first one to be started") { first.isExecuting }

        first.cancel()
        try await second.ended()

        #expect(first.error?.urlCode == NSURLErrorCancelled && second.responseString == "hello")
    }

    @Test("2.8 modes that are changed while it loads hold up neither a pause nor a cancellation")
    func changedModes() async throws {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url("/held")))
        operation.start()
        try await server.waitForRequests(1)

        operation.runLoopModes = [Self.foreignMode]
        operation.pause()
        // Enqueued on the network thread with the end of the load, to continue where that stopped.
        try await eventually("the end of the load") { operation.request.value(forHTTPHeaderField: "Range") != nil }
        operation.cancel()
        try await operation.ended()

        #expect(operation.error?.urlCode == NSURLErrorCancelled)
    }

    @Test("14 operations: on the network thread, with the failing URL")
    func failingURL() async throws {
        let operation = operation("/held")
        operation.start()
        operation.cancel()
        try await operation.ended()
        let error = try #require(operation.error) as NSError
        #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == server.url("/held"))
    }

    @Test("2.6 on expiry the handler is called, then the operation is cancelled")
    func expiry() async throws {
        let operation = operation("/held")
        let calls = Heard<Bool>()
        operation.setShouldExecuteAsBackgroundTask { calls.add(operation.isCancelled) }
        operation.setShouldExecuteAsBackgroundTask { calls.add(true) }
        operation.start()

        operation.expireBackgroundTask()
        operation.expireBackgroundTask()
        try await operation.ended()

        #expect(calls.all == [false] && operation.error?.urlCode == NSURLErrorCancelled)
    }

    // MARK: - Pausing

    @Test("16 2.8 resumed, the body begins anew: nothing of the first attempt is left before it")
    func resumed() async throws {
        let content = stallOnce("/slow")
        let operation = operation("/slow")
        let announcements = Announcements(of: operation)
        operation.start()
        try await eventually("a first piece") { operation.state.withLock { $0.totalBytesRead } > 0 }

        operation.pause()
        #expect(operation.isPaused && !operation.isExecuting && !operation.isFinished)
        operation.resume()
        try await operation.ended()

        #expect(operation.responseString == content)
        #expect(try await announcements.all.wait(for: 4) == ["start", "finish", "start", "finish"])
    }

    @Test("2.3 pausing does nothing to one that is paused, finished or cancelled; resuming to one that is not paused")
    func pausedTwice() async throws {
        let operation = operation()
        operation.resume()
        #expect(operation.isReady)
        operation.pause()
        operation.pause()
        #expect(operation.isPaused)
        operation.resume()
        #expect(operation.isReady)
        operation.pause()
        operation.start()
        #expect(operation.isPaused)
        // A queue does not start an operation twice.
        operation.resume()
        #expect(!operation.isReady)
        try await operation.ended()
        operation.pause()
        operation.resume()
        #expect(operation.isFinished && operation.responseString == "hello")
    }

    // MARK: - Streams

    @Test("2.1 a body that goes to a stream of one's own is not in the operation's data")
    func outputFile() async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        let operation = operation()
        let stream = try #require(OutputStream(url: file, append: false))
        operation.outputStream = stream
        #expect(operation.outputStream === stream)

        operation.start()
        try await operation.ended()

        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        #expect(operation.responseData == nil && operation.error == nil && operation.outputStream === stream)
        try await eventually("the end of the stream") { stream.streamStatus == .closed }
    }

    @Test("a stream that cannot be opened fails the operation before its request leaves, with all that is known of it")
    func unopenableFile() async throws {
        let folder = try ScratchFolder()
        for (path, code, reason) in [
            ("no/such/file", ENOENT, "No such file or directory"), ("", EISDIR, "Is a directory"),
        ] {
            let operation = operation()
            operation.outputStream = OutputStream(url: folder.url.appendingPathComponent(path), append: false)
            operation.start()
            try await operation.ended()

            let error = try #require(operation.error as NSError?)
            #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(code))
            let text = error.localizedDescription
            for known in ["output stream", "\(reason), errno \(code)", "folder exists"] {
                #expect(text.components(separatedBy: known).count == 2, "\(known): \(text)")
            }
            #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == server.url("/hello"))
            #expect(operation.response == nil && server.requests.isEmpty)
        }
    }

    @Test("a body longer than the memory allows for fails the operation, and goes to a stream of one's own in full")
    func limited() async throws {
        func loaded(limit: Int, into stream: OutputStream? = nil) async throws -> URLConnectionOperation {
            let operation = operation()
            operation.state.withLock { $0.world.maximumBodyInMemory = limit }
            operation.outputStream = stream
            operation.start()
            try await operation.ended()
            return operation
        }
        let tooLong = try await loaded(limit: 4)
        #expect(tooLong.error?.urlCode == URLError.Code.dataLengthExceedsMaximum.rawValue)
        #expect(tooLong.responseData == nil)
        #expect(try await loaded(limit: 5).responseString == "hello")

        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        #expect(try await loaded(limit: 4, into: OutputStream(url: file, append: false)).error == nil)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        #expect(operation().state.withLock { $0.world.maximumBodyInMemory } == 1 << 30)
    }

    @Test("14 operations: replacing the output stream closes the one before")
    func replaced() throws {
        let operation = operation()
        let first = OutputStream(toMemory: ())
        first.open()
        operation.outputStream = first
        operation.outputStream = OutputStream(toMemory: ())
        #expect(first.streamStatus == .closed)
    }

    @Test("16 2.8 a file that is written again from the beginning holds the second attempt alone")
    func rewoundFile() async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        let content = stallOnce("/slow")
        let operation = operation("/slow")
        operation.outputStream = OutputStream(url: file, append: false)
        operation.start()
        try await eventually("a first piece") { operation.state.withLock { $0.totalBytesRead } > 0 }

        operation.pause()
        operation.resume()
        try await operation.ended()

        #expect(operation.error == nil, "\(String(describing: operation.error))")
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }

    /// Takes so many bytes, and then none.
    /// Cancels itself in the middle of its body.
    private final class Cancelling: URLConnectionOperation, @unchecked Sendable {
        override func connection(_ connection: URLConnection, didReceive data: Data) {
            super.connection(connection, didReceive: data)
            cancel()
        }
    }

    @Test("14 an operation that is cancelled with its last bytes fails, though its end is on its way")
    func cancelledAtTheEnd() async throws {
        for _ in 0..<20 {
            let operation = Cancelling(request: URLRequest(url: server.url("/hello")))
            operation.start()
            try await operation.ended()
            #expect(operation.isCancelled && (operation.error as? URLError)?.code == .cancelled)
        }
    }

    /// Waits in the first write until it is released.
    private final class BlockingStream: OutputStream {
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let closed = Heard<Bool>()

        override var streamStatus: Stream.Status { .open }
        override var hasSpaceAvailable: Bool { true }
        override func open() {}
        override func close() { closed.add(true) }
        override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

        override func write(_ buffer: UnsafePointer<UInt8>, maxLength count: Int) -> Int {
            entered.signal()
            release.wait()
            return count
        }
    }

    @Test("14 a cancelled operation finishes at once, also behind a write that blocks")
    func cancelledInAWrite() async throws {
        let stream = BlockingStream(toMemory: ())
        let operation = operation()
        operation.outputStream = stream
        operation.start()
        let entered = stream.entered
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }

        operation.cancel()
        try await operation.ended()

        #expect((operation.error as? URLError)?.code == .cancelled && stream.closed.all.isEmpty)
        stream.release.signal()
        try await stream.closed.wait(for: 1)
    }

    private final class FullStream: OutputStream {
        private var room: Int
        private let failure: NSError?
        private let refuses: Bool

        init(room: Int, failure: NSError?, refuses: Bool = false) {
            self.room = room
            self.failure = failure
            self.refuses = refuses
            super.init(toMemory: ())
        }

        required init(toMemory: ()) {
            room = 0
            failure = nil
            refuses = false
            super.init(toMemory: ())
        }

        override var hasSpaceAvailable: Bool { refuses || room > 0 }
        override var streamStatus: Status { room == 0 && failure != nil ? .error : super.streamStatus }
        override var streamError: (any Error)? { room > 0 ? nil : failure }

        override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
            if room == 0 { return -1 }
            let count = min(room, len)
            room -= count
            return count
        }
    }

    @Test(
        "13.13.18 14 operations 16 2.8: a stream without space, or that takes nothing, fails the operation with its error or ours"
    )
    func fullStream() async throws {
        let own = NSError(domain: "disk", code: 28)
        for (stream, expected) in [
            (FullStream(room: 0, failure: own), own),
            (FullStream(room: 3, failure: own), own),
            (FullStream(room: 2, failure: own, refuses: true), own),
            (FullStream(room: 3, failure: nil), nil),
            (FullStream(room: 2, failure: nil, refuses: true), nil),
        ] {
            let operation = operation()
            operation.outputStream = stream
            operation.start()
            try await operation.ended()
            let error = try #require(operation.error) as NSError
            #expect(expected.map { error == $0 } ?? (error.code == NSURLErrorCannotWriteToFile), "\(error)")
        }
    }

    @Test("2.1 setting the input stream replaces the body of the request")
    func inputStream() async throws {
        server.route("POST", "/echo") { .text($0.bodyText) }
        var request = URLRequest(url: server.url("/echo"))
        request.httpMethod = "POST"
        let operation = URLConnectionOperation(request: request)
        let stream = InputStream(data: Data("streamed".utf8))
        operation.inputStream = stream
        #expect(operation.inputStream === stream && operation.request.httpBodyStream === stream)

        operation.start()
        try await operation.ended()

        #expect(operation.responseString == "streamed")
    }

    // MARK: - Text

    @Test(
        "13.14 text is read as the response says, and as UTF-8 if it says nothing that is known",
        arguments: [
            ("text/plain; charset=Shift_JIS", String.Encoding.shiftJIS), ("text/plain; charset=\"UTF-8\"", .utf8),
            ("text/plain; charset=invalid", .utf8), ("text/plain", .utf8),
            ("text/plain; charset=ISO-8859-1", .isoLatin1),
        ]
    )
    func charset(type: String, encoding: String.Encoding) async throws {
        let text = encoding == .isoLatin1 ? "äöü" : "日本"
        server.route("GET", "/text", .data(try #require(text.data(using: encoding)), type: type))
        let operation = operation("/text")

        operation.start()
        try await operation.ended()

        #expect(operation.responseStringEncoding == encoding && operation.responseString == text)
    }

    // MARK: - Blocks

    @Test("2.3 13.13.10 the redirect block is asked about the request and about redirects, on the network thread")
    func redirect() async throws {
        server.route("GET", "/1", ServerReply.text("moved").status(302).header("Location", "/hello"))
        let seen = Heard<String>()
        let follows = operation("/1")
        follows.setRedirectResponseBlock { _, request, response in
            seen.add("\(request.url?.path ?? "") \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            return request
        }
        let stays = operation("/1")
        stays.setRedirectResponseBlock { _, request, response in response == nil ? request : nil }

        follows.start()
        try await follows.ended()
        stays.start()
        try await stays.ended()

        #expect(seen.all == ["/1 0", "/hello 302"] && follows.responseString == "hello")
        #expect(stays.responseString == "moved" && (stays.response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("T-RED-15 without a redirect block no body goes to another origin; a block may let it go")
    func redirectedBody() async throws {
        let other = try TestServer()
        other.route("*", "/echo") { .text("\($0.method) \($0.bodyText)") }
        server.route("POST", "/away", ServerReply.status(307).header("Location", other.url("/echo").absoluteString))
        var request = URLRequest(url: server.url("/away"))
        request.httpMethod = "POST"
        request.httpBody = Data("password".utf8)
        let (refused, allowed) = (URLConnectionOperation(request: request), URLConnectionOperation(request: request))
        allowed.setRedirectResponseBlock { _, request, _ in request }

        refused.start()
        try await refused.ended()
        #expect((refused.error as? URLError)?.loadFailure?.reason == .redirect && other.requests.isEmpty)

        allowed.start()
        try await allowed.ended()
        #expect(allowed.error == nil && allowed.responseString == "POST password")
    }

    @Test(
        "13.14 a challenge without a credential delivers the 401; with the right one it is answered; the block goes first"
    )
    func challenges() async throws {
        let right = "Basic " + Data("user:word".utf8).base64EncodedString()
        server.route("GET", "/secret") { request in
            guard request.headers["Authorization"] == right else {
                return ServerReply.text("who?").status(401).header("WWW-Authenticate", #"Basic realm="operations""#)
            }
            return .text("secret")
        }
        let (none, wrong, block, own) = (
            operation("/secret"), operation("/secret"), operation("/secret"), operation("/secret")
        )
        for operation in [none, wrong, block, own] { operation.shouldUseCredentialStorage = false }
        wrong.credential = URLCredential(user: "user", password: "wrong", persistence: .none)
        own.credential = URLCredential(user: "user", password: "word", persistence: .none)
        block.setWillSendRequestForAuthenticationChallengeBlock { _, challenge in
            let credential = URLCredential(user: "user", password: "word", persistence: .none)
            challenge.sender?.use(credential, for: challenge)
        }

        for operation in [none, wrong, block, own] {
            operation.start()
            try await operation.ended()
        }

        #expect(none.responseString == "who?" && wrong.responseString == "who?")
        #expect(block.responseString == "secret" && own.responseString == "secret")
    }

    @Test(
        "T-RED-01 a credential is sent to the first server, and not where a redirect leads",
        arguments: [true, false]
    )
    func redirected(staysAtHome: Bool) async throws {
        let stranger = try TestServer()
        let target = staysAtHome ? server : stranger
        target.route("GET", "/secret") { request in
            guard request.headers["Authorization"] == nil else { return .text("secret") }
            return ServerReply.text("who?").status(401).header("WWW-Authenticate", #"Basic realm="redirected""#)
        }
        let place = target.url("/secret").absoluteString
        server.route("GET", "/moved", ServerReply.text("moved").status(307).header("Location", place))
        let operation = operation("/moved")
        operation.shouldUseCredentialStorage = false
        operation.credential = URLCredential(user: "user", password: "word", persistence: .none)

        operation.start()
        try await operation.ended()

        #expect(operation.responseString == (staysAtHome ? "secret" : "who?"))
        #expect(stranger.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test("14 operations: user name and password in the URL are applied by the loader")
    func embedded() async throws {
        let right = "Basic " + Data("user:word".utf8).base64EncodedString()
        server.route("GET", "/secret") { request in
            guard request.headers["Authorization"] == right else {
                return ServerReply.text("who?").status(401).header("WWW-Authenticate", #"Basic realm="embedded""#)
            }
            return .text("secret")
        }
        let text = server.url("/secret").absoluteString.replacing("http://", with: "http://user:word@")
        let operation = URLConnectionOperation(request: URLRequest(url: try #require(URL(string: text))))

        operation.start()
        try await operation.ended()

        #expect(operation.responseString == "secret")
    }

    @Test("2.3 the cache block says what is stored")
    func cache() async throws {
        server.route("GET", "/kept", ServerReply.text("kept").header("Cache-Control", "max-age=1000"))
        let seen = Heard<String>()
        for _ in 0..<2 {
            let operation = operation("/kept")
            operation.setCacheResponseBlock { _, response in
                seen.add(String(decoding: response.data, as: UTF8.self))
                return nil
            }
            operation.start()
            try await operation.ended()
        }
        #expect(seen.all == ["kept", "kept"] && server.requests.count == 2)
    }

    /// Says itself what is stored.
    private final class Keeper: URLConnectionOperation, @unchecked Sendable {
        let asked = Heard<String>()

        override func connection(
            _ connection: URLConnection,
            willCacheResponse cachedResponse: CachedURLResponse
        ) -> CachedURLResponse? {
            asked.add(String(decoding: cachedResponse.data, as: UTF8.self))
            return nil
        }
    }

    @Test("2.3 the cache stores what an operation without a block loads")
    func cacheWithoutBlock() async throws {
        server.route("GET", "/stored", ServerReply.text("stored").header("Cache-Control", "max-age=1000"))
        for _ in 0..<2 {
            let operation = operation("/stored")
            operation.start()
            try await operation.ended()
            #expect(operation.responseString == "stored")
        }
        #expect(server.requests.count == 1)
    }

    @Test("2.3 a cache block that comes while the response does is asked")
    func lateCacheBlock() async throws {
        server.route("GET", "/late", ServerReply.text("late").header("Cache-Control", "max-age=1000").held(until: "go"))
        let seen = Heard<String>()
        let operation = operation("/late")
        operation.start()
        try await server.waitForRequests(1)
        operation.setCacheResponseBlock { _, response in
            seen.add(String(decoding: response.data, as: UTF8.self))
            return nil
        }
        server.signal("go")
        try await operation.ended()
        #expect(seen.all == ["late"])
    }

    @Test("2.3 a subclass that overrides the method of the delegate is asked, with a block or without")
    func cacheOverride() async throws {
        server.route("GET", "/own", ServerReply.text("own").header("Cache-Control", "max-age=1000"))
        for _ in 0..<2 {
            let operation = Keeper(request: URLRequest(url: server.url("/own")))
            operation.start()
            try await operation.ended()
            #expect(operation.asked.all == ["own"])
        }
        #expect(server.requests.count == 2)
    }

    // MARK: - Batches

    @Test("2.6 13.13.17 13.14 a batch completes after the blocks of all its operations, on the main queue")
    func batch() async throws {
        let order = Heard<String>()
        let operations = (0..<3).map { number in
            let operation = operation()
            operation.completionBlock = { order.add("operation \(number)") }
            return operation
        }
        let all = URLConnectionOperation.batchOfRequestOperations(operations) { finished, total in
            order.add("progress \(finished) of \(total)")
        } completionBlock: { finished in
            dispatchPrecondition(condition: .onQueue(.main))
            order.add("batch of \(finished.count)")
        }
        let queue = OperationQueue()
        queue.add(all)

        let events = try await order.wait(for: 7)

        #expect(all.count == 4 && events.last == "batch of 3")
        #expect((1...3).allSatisfy { events.contains("progress \($0) of 3") })
        #expect((0..<3).allSatisfy { events.contains("operation \($0)") })
    }

    @Test("14 operations: a batch of nothing is one operation, which completes", arguments: [true, false])
    func emptyBatch(isNil: Bool) async throws {
        let calls = Heard<Int>()
        let all = URLConnectionOperation.batchOfRequestOperations(isNil ? nil : [], progressBlock: nil) {
            calls.add($0.count)
        }
        #expect(all.count == 1)
        OperationQueue().add(all)
        #expect(try await calls.wait(for: 1) == [0])
    }

    // MARK: - Describing, coding, copying

    @Test("2.7 the description names class, state, request and response")
    func described() {
        let text = operation().description
        #expect(text.hasPrefix("<URLConnectionOperation: 0x") && text.contains("state: isReady"))
        #expect(text.contains("cancelled: NO") && text.contains("/hello") && text.contains("response: none"))
    }

    @Test("2.7 archiving pauses; what is read is ready, has request, response and data, and can be started")
    func coded() async throws {
        let operation = operation()
        operation.start()
        try await operation.ended()
        let held = self.operation("/held")
        held.start()

        let archive = try NSKeyedArchiver.archivedData(withRootObject: operation, requiringSecureCoding: true)
        _ = try NSKeyedArchiver.archivedData(withRootObject: held, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: URLConnectionOperation.self, from: archive)
        )

        #expect(held.isPaused)
        held.cancel()
        #expect(read.isReady && !read.isFinished)
        #expect(read.request.url == server.url("/hello") && read.responseData == Data("hello".utf8))
        #expect((read.response as? HTTPURLResponse)?.statusCode == 200)
        read.start()
        try await read.ended()
        #expect(read.responseString == "hello")
    }

    @Test("2.7 a copy has request, blocks, queue and group, and none of the rest")
    func copied() async throws {
        let calls = Heard<Int>()
        let operation = operation()
        let queue = DispatchQueue(label: "copied")
        let group = DispatchGroup()
        operation.setDownloadProgressBlock { _, _, _ in calls.add(1) }
        operation.setRedirectResponseBlock { _, request, _ in
            calls.add(2)
            return request
        }
        operation.completionQueue = queue
        operation.completionGroup = group
        operation.credential = URLCredential(user: "a", password: "b", persistence: .none)
        operation.runLoopModes = [.default]
        operation.userInfo = ["a": 1]
        operation.outputStream = OutputStream(toMemory: ())

        let copy = try #require(operation.copy() as? URLConnectionOperation)
        #expect(copy !== operation && copy.completionQueue === queue && copy.completionGroup === group)
        #expect(copy.credential == nil && copy.userInfo == nil && copy.runLoopModes == [.common])
        #expect(copy.securityPolicy !== operation.securityPolicy && copy.completionBlock == nil)
        copy.start()
        try await copy.ended()
        #expect(copy.responseData != nil)
        try await calls.wait(for: 2)
    }
}
