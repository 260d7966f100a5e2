import AFURLSession
import Foundation
import Testing

/// Messages and endings, against the libraries websockets and aiohttp.
@Suite(.serialized, .enabled(if: !Talker.serving.isEmpty), .timeLimit(.minutes(1)))
struct WebSocketServerTests {
    typealias Message = URLSessionWebSocketTask.Message
    typealias CloseCode = URLSessionWebSocketTask.CloseCode

    private static let codes = [1000, 1001, 1003, 1008, 1011, 3000, 4999].compactMap(CloseCode.init(rawValue:))

    private func failure(_ body: () async throws -> Void) async -> LoadFailure? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? URLError)?.loadFailure
        }
    }

    // MARK: Messages

    @Test(arguments: Talker.serving, [0, 1, 125, 126, 65535, 65536, 1 << 20])
    func `text and bytes come back as they went`(talker: Talker, size: Int) async throws {
        for compression in [nil, WebSocketOptions.Compression()] {
            var options = WebSocketOptions()
            options.compression = compression
            options.maximumMessageSize = 2 << 20
            let talk = try Talk(talker, "/echo", options)

            for message in [Message.text(of: size), .bytes(of: size)] {
                let isSame = try await talk.echo(message) == message
                #expect(isSame, "\(message.name)")
            }
            try await talk.close()

            let seen = try await talk.seen()
            #expect(seen.messages == ["text \(size)", "bytes \(size)"])
            #expect((seen.extensions != nil) == (compression != nil))
        }
    }

    @Test(arguments: Talker.serving)
    func `text of several scripts is counted in bytes by the server`(talker: Talker) async throws {
        let text = "naïve Ελλάδα 日本 👩🏽‍🚀 \u{0} \u{FEFF} e\u{301}"
        let talk = try Talk(talker, "/echo")

        #expect(try await talk.echo(.string(text)) == .string(text))
        try await talk.close()

        #expect(try await talk.seen().messages == ["text \(text.utf8.count)"])
    }

    @Test(arguments: Talker.serving)
    func `a thousand messages keep their order both ways`(talker: Talker) async throws {
        let talk = try Talk(talker, "/echo")
        let messages = (0..<1000).map { $0.isMultiple(of: 2) ? Message.string("\($0)") : .bytes(of: $0) }

        for message in messages { talk.task.send(message) { #expect($0 == nil) } }
        var returned: [Message] = []
        for _ in messages { returned.append(try await talk.task.receive()) }
        try await talk.close()

        #expect(returned == messages)
        #expect(try await talk.seen().messages == messages.map(\.name))
    }

    @Test(arguments: Talker.serving)
    func `fragments make whole messages, and pings between them are answered`(talker: Talker) async throws {
        let talk = try Talk(talker, "/fragments")

        let messages = try await talk.all()

        let bytes = Data(repeating: 0, count: 1000) + Data(repeating: 0xFF, count: 1000)
        #expect(messages == [.string("one é, two, three"), .data(bytes)])
        #expect(try await talk.seen().pongs.count == 6)
    }

    @Test(arguments: Talker.serving, [1, 64 << 10])
    func `messages of growing size come in order to their end`(talker: Talker, buffer: Int) async throws {
        var options = WebSocketOptions()
        options.receiveBufferSize = buffer
        let talk = try Talk(talker, "/growing?count=60&step=2500", options)

        let messages = try await talk.all()

        #expect(messages.map(\.name) == (0..<60).map { "\($0.isMultiple(of: 2) ? "text" : "bytes") \($0 * 2500)" })
        #expect(talk.task.closeCode == .normalClosure && talk.task.closeReason == Data("grown".utf8))
        let seen = try await talk.seen()
        #expect(seen.code == 1000, "\(seen)")
    }

    @Test(arguments: Talker.serving, [nil, WebSocketOptions.Compression()])
    func `a message over the limit is told to the server`(
        talker: Talker,
        compression: WebSocketOptions.Compression?
    ) async throws {
        var options = WebSocketOptions()
        options.compression = compression
        options.maximumMessageSize = 1000
        let talk = try Talk(talker, "/growing?count=5&step=600", options)
        var names: [String] = []

        let failure = await failure {
            for try await message in talk.task.messages { names.append(message.name) }
        }

        #expect(names == ["text 0", "bytes 600"])
        #expect(failure?.reason == .limit && failure?.detail == .frame)
        #expect(try await talk.seen().code == 1009)
    }

    // MARK: Pings

    @Test(arguments: Talker.serving)
    func `pings of the server are answered with what they carry`(talker: Talker) async throws {
        let talk = try Talk(talker, "/ping")

        #expect(try await talk.all() == [.string("3 pongs")])

        let pongs = try await talk.seen().pongs
        #expect(pongs.count == 3 && pongs[1] == "74686572653f" && pongs[2].count == 250)
    }

    @Test(arguments: Talker.serving)
    func `pings of the client are answered`(talker: Talker) async throws {
        let talk = try Talk(talker, "/echo")

        try await talk.ping()
        #expect(try await talk.echo(.string("between")) == .string("between"))
        try await talk.ping()
        try await talk.close()

        #expect(try await talk.seen().pings.count == 2)
    }

    @Test(arguments: Talker.serving)
    func `the client pings a server that says nothing`(talker: Talker) async throws {
        var options = WebSocketOptions()
        options.pingInterval = .milliseconds(50)
        options.pongTimeout = .seconds(20)
        let talk = try Talk(talker, "/silent?pings=3", options)

        #expect(try await talk.all() == [.string("pinged")])

        #expect(try await talk.seen().pings.count >= 3)
    }

    // MARK: Ends

    @Test(arguments: Talker.serving, codes)
    func `the server closes with a code and a reason`(talker: Talker, code: CloseCode) async throws {
        let talk = try Talk(talker, "/close?code=\(code.rawValue)&reason=time%20to%20go")
        var messages: [Message] = []

        let failure = await failure { messages = try await talk.all() }

        let isOrderly = code == .normalClosure || code == .goingAway
        #expect(messages.isEmpty && failure?.detail == (isOrderly ? nil : .closed))
        #expect(talk.task.closeCode == code && talk.task.closeReason == Data("time to go".utf8))
        #expect(talk.task.error == nil)
        #expect(try await talk.seen().code == code.rawValue)
    }

    @Test(arguments: Talker.serving, codes)
    func `the client closes with a code and a reason`(talker: Talker, code: CloseCode) async throws {
        let talk = try Talk(talker, "/echo")
        try await talk.task.send(.string("last"))

        try await talk.close(code, "genug für heute")

        let seen = try await talk.seen()
        #expect(seen.messages == ["text 4"] && seen.code == code.rawValue && seen.reason == "genug für heute")
        // aiohttp answers each code with 1000.
        #expect(talk.task.closeCode == (talker == .aiohttp ? .normalClosure : code) && talk.task.error == nil)
    }

    @Test(arguments: Talker.serving)
    func `the client closes without a code`(talker: Talker) async throws {
        let talk = try Talk(talker, "/echo")
        try await talk.task.open()

        try await talk.close(.invalid)

        // What each library makes of an empty Close frame.
        let seen = try await talk.seen()
        #expect(seen.code == (talker == .aiohttp ? 0 : 1005) && seen.reason == "")
        #expect(talk.task.error == nil)
    }

    @Test(arguments: Talker.serving)
    func `a connection that ends without a Close frame has failed`(talker: Talker) async throws {
        let talk = try Talk(talker, "/drop")
        var names: [String] = []

        let failure = await failure {
            for try await message in talk.task.messages { names.append(message.name) }
        }

        #expect(names == ["text 4"] && failure?.reason == .lost && failure?.detail == .truncated)
        #expect(talk.task.closeCode == .abnormalClosure)
    }
}
