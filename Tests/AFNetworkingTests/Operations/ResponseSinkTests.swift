import AFBase

@testable import AFNetworking

/// The memory of an operation, which is a stream as soon as the program asks for it.
@Suite("Where operations write")
struct ResponseSinkTests {
    private static let hello = Data("hello".utf8)

    /// Looks at its stream for the first time when data has arrived.
    private final class Looking: URLConnectionOperation, @unchecked Sendable {
        let seen = Heard<Data?>()

        override func connection(_ connection: URLConnection, didReceive data: Data) {
            super.connection(connection, didReceive: data)
            seen.add(outputStream?.written)
        }
    }

    /// Closes its stream when the response has arrived.
    private final class Closing: URLConnectionOperation, @unchecked Sendable {
        override func connection(_ connection: URLConnection, didReceive response: URLResponse) {
            super.connection(connection, didReceive: response)
            outputStream?.close()
        }
    }

    private func server(_ reply: ServerReply) throws -> TestServer {
        let server = try TestServer()
        server.route("*", "/hello", reply)
        return server
    }

    @Test func `memory has what was written, and no stream before the program asks for one`() {
        let sink = ResponseSink()
        #expect(sink.write(Data("he".utf8)) == nil && sink.write(Data("llo".utf8)) == nil)
        #expect(sink.data == Self.hello && sink.count == 5 && sink.presentStream == nil && !sink.hasRemains)

        let next = sink.rewound()
        #expect(next !== sink && next?.data == Data() && next?.rewound() === next)
    }

    @Test func `a stream that the program asks for has what has arrived, and takes what follows`() {
        let sink = ResponseSink()
        #expect(sink.write(Data("he".utf8)) == nil)
        let stream = sink.stream
        #expect(stream.streamStatus == .open && stream.written == Data("he".utf8) && sink.stream === stream)

        #expect(sink.write(Data("llo".utf8)) == nil)
        #expect(stream.written == Self.hello && sink.data == Self.hello && sink.count == 5)

        let next = sink.rewound()
        #expect(stream.streamStatus == .closed && next?.presentStream == nil && next?.data == Data())
    }

    @Test func `a stream that the program asks for before the load is opened and closed with it`() {
        let sink = ResponseSink()
        let stream = sink.stream
        #expect(stream.streamStatus == .notOpen)
        #expect(sink.write(Self.hello) == nil)
        #expect(stream.streamStatus == .open && stream.written == Self.hello && sink.data == Self.hello)

        sink.close()
        #expect(stream.streamStatus == .closed)
    }

    @Test func `the stream of an operation in memory has the body, whenever the program asks for it`() async throws {
        let server = try server(.text("hello"))
        let before = URLConnectionOperation(request: URLRequest(url: server.url("/hello")))
        let stream = try #require(before.outputStream)
        before.start()
        try await before.ended()
        #expect(stream.written == Self.hello && before.responseData == Self.hello)
        try await eventually("the end of the stream") { stream.streamStatus == .closed }

        let during = Looking(request: URLRequest(url: server.url("/hello")))
        during.start()
        try await during.ended()
        #expect(during.seen.all == [Self.hello] && during.responseData == Self.hello)
    }

    @Test func `an operation whose stream in memory the program has closed fails`() async throws {
        let server = try server(.text("hello"))
        let operation = Closing(request: URLRequest(url: server.url("/hello")))
        operation.start()
        try await operation.ended()
        #expect(operation.error?.urlCode == NSURLErrorCannotWriteToFile && operation.responseData == nil)
    }

    @Test func `an operation has one policy of its own, and decides like others until that is changed`() {
        let (one, other) = (
            URLConnectionOperation(request: URLRequest(url: URL(fileURLWithPath: "/"))),
            URLConnectionOperation(request: URLRequest(url: URL(fileURLWithPath: "/")))
        )
        func rules(_ operation: URLConnectionOperation) -> OperationTrustRules {
            operation.state.withLock { OperationTrustRules($0) }
        }
        let unasked = rules(one)
        #expect(one.securityPolicy === one.securityPolicy && one.securityPolicy !== other.securityPolicy)
        #expect(rules(one).decideLike(unasked) && one.trustIdentity == other.trustIdentity)

        one.securityPolicy.allowInvalidCertificates = true
        #expect(!rules(one).decideLike(unasked) && one.trustIdentity != other.trustIdentity)
        #expect(rules(other).decideLike(unasked))
    }

    @Test func `rules for the very same hosts forbid those in the clear, whatever each says`() throws {
        let operation = URLConnectionOperation(request: URLRequest(url: URL(fileURLWithPath: "/")))
        let rule = try HostRule.noPins("api.test")
        let request = URLRequest(url: try #require(URL(string: "HTTP://api.test/")))
        for (rules, isForbidden) in [([], false), ([rule], false), ([rule, rule], true)] {
            operation.securityPolicy.hostRules = rules
            let host = operation.state.withLock { OperationTrustRules($0).forbiddenHost(of: request) }
            #expect((host == "api.test") == isForbidden, "\(rules.count)")
        }
    }
}

extension OutputStream {
    fileprivate var written: Data? {
        (property(forKey: .dataWrittenToMemoryStreamKey) as? NSData).map { Data(bytes: $0.bytes, count: $0.length) }
    }
}
