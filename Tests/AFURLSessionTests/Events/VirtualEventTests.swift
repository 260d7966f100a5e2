@testable import AFURLSession
@testable import AFURLTypes

/// Streams of events on a virtual network, by its clock.
final class VirtualEventTests: WorldSuite {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"

    /// What the reader of a stream saw, and when, in seconds since it began.
    private struct Seen {
        var events: [ServerSentEvent] = []
        var times: [Double] = []
        var end: (time: Double, error: (any Error)?)?
    }

    /// Writes down what a delegate of streams hears.
    private final class Listener: NSObject, EventStreamDelegate {
        let log = Lock<[String]>([])

        func eventStream(_ stream: EventStream, didOpen response: URLResponse) {
            log.withLock { $0.append("open \((response as? HTTPURLResponse)?.statusCode ?? 0)") }
        }

        func eventStream(_ stream: EventStream, didReceiveComment comment: String) {
            log.withLock { $0.append("comment \(comment)") }
        }

        func eventStream(
            _ stream: EventStream,
            willReconnectAfter wait: Duration,
            attempt: Int,
            because error: (any Error)?
        ) {
            let why =
                (error as? URLError).map { " \($0.refusedResponse?.response.statusCode ?? $0.code.rawValue)" } ?? ""
            log.withLock { $0.append("attempt \(attempt) after \(wait >= .seconds(3) ? "three" : "less")\(why)") }
        }

        func eventStream(_ stream: EventStream, didEndWith error: (any Error)?) {
            log.withLock { $0.append("end \((error as? URLError)?.code.rawValue ?? 0)") }
        }
    }

    /// Reads a stream to its end.
    private func read(
        _ world: VirtualWorld,
        _ options: EventStreamOptions = EventStreamOptions(),
        _ delegate: Listener? = nil
    ) throws -> Seen {
        let request = URLRequest(url: try #require(URL(string: "http://api.test/events")))
        let stream = world.session.events(for: request, options: options, delegate: delegate)
        let seen = Lock(Seen())
        // All of it runs on the thread of the test.
        nonisolated(unsafe) let clock = world.clock
        let began = world.now
        let seconds: @Sendable () -> Double = { Double(clock.now.nanoseconds - began.nanoseconds) / 1e9 }
        _ = Task(executorPreference: CallbackTaskExecutor(world.queue)) {
            do {
                for try await event in stream {
                    seen.withLock { seen in
                        seen.events.append(event)
                        seen.times.append(seconds())
                    }
                }
                seen.withLock { $0.end = (seconds(), nil) }
            } catch {
                seen.withLock { $0.end = (seconds(), error) }
            }
        }
        #expect(world.run(limit: .seconds(100_000)) { seen.withLock { $0.end != nil } })
        return seen.withLock { $0 }
    }

    @Test func `T-SSE-05 an event is returned in the moment in which its last byte arrives`() throws {
        let world = VirtualWorld()
        world.network.link.latency = 1_000_000...1_000_000
        world.scripts(
            "api.test",
            [
                [
                    .expectRequest, .reply(Self.head), .delay(.seconds(1)), .reply("data: a\n"), .delay(.seconds(1)),
                    .reply("\n"), .delay(.seconds(5)), .reply("data: b\r\r"), .delay(.seconds(5)),
                    .reply(": nothing\n\n"), .delay(.seconds(5)), .reply("data: c\r\n\r\n"), .close,
                ],
                [.expectRequest, .reply(Self.noContent)],
            ]
        )

        let seen = try read(world)

        #expect(seen.events.map(\.data) == ["a", "b", "c"] && seen.end?.error == nil)
        for (time, expected) in zip(seen.times, [2.0, 7, 17]) { #expect(time >= expected && time < expected + 0.1) }
    }

    @Test func `T-SSE-10 the waits double, get up to a quarter longer, and have a limit`() throws {
        for seed in 1...20 {
            let world = VirtualWorld(seed: UInt64(seed))
            world.host("api.test", "192.0.2.1")
            world.set(.refuses(), for: "192.0.2.1")
            var options = EventStreamOptions()
            options.maximumAttempts = 6
            let end = try #require(try read(world, options).end)
            // 3 + 6 + 12 + 24 + 48 seconds
            #expect((end.error as? URLError)?.code == .cannotConnectToHost)
            #expect(end.time >= 93 && end.time < 93 * 1.25 + 1)

            options.maximumDelay = .seconds(5)
            let short = try #require(try read(world, options).end)
            // 3 + 5 + 5 + 5 + 5 seconds
            #expect(short.time >= 23 && short.time < 23 * 1.25 + 1)
        }
    }

    @Test func `T-SSE-10 waits of any length do not end the process`() throws {
        let longest = Duration.seconds(Int64.max)
        let world = VirtualWorld()
        for wait in [Duration.zero, .nanoseconds(1), .seconds(1), longest, .zero - longest] {
            for most in [Duration.zero, .seconds(300), longest] {
                for failures in [0, 1, 2, 6, 21, .max] {
                    let backOff = world.session.world.backOff(wait, after: failures, upTo: most)
                    #expect(backOff <= most + most / 4)
                }
            }
        }
    }

    @Test(arguments: [("10000", 10.0), ("0", 0.1), ("99999999999999999999", 300)])
    func `T-SSE-06 the server sets the wait, within limits`(retry: String, expected: Double) throws {
        let world = VirtualWorld()
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("\(Self.head)retry: \(retry)\ndata: a\n\n"), .close],
                [.expectRequest, .reply(Self.noContent)],
            ]
        )

        let end = try #require(try read(world).end)

        #expect(end.error == nil && end.time >= expected && end.time < expected * 1.25 + 1)
    }

    @Test func `a server that falls silent counts as gone after the request's time`() throws {
        let world = VirtualWorld()
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("\(Self.head)id: 7\ndata: a\n\n"), .stall],
                [.expectRequest, .reply(Self.noContent)],
            ]
        )

        let seen = try read(world)

        #expect(seen.events.map(\.data) == ["a"] && seen.end?.error == nil)
        let time = try #require(seen.end?.time)
        #expect(time >= 63 && time < 66)
    }

    @Test func `a stream cut at any byte, in any way, brings each event once and in order`() throws {
        let events = (1...3).map { "id: \($0)\nevent: add\ndata: \($0)\n\n" }
        let whole = Self.head + events.joined()
        for cut in 0...whole.utf8.count {
            for fate: ServerStep in [.close, .reset] {
                let world = VirtualWorld(seed: UInt64(cut + 1))
                let first = String(decoding: Array(whole.utf8)[..<cut], as: UTF8.self)
                // How many events the first response has.
                let complete = max(0, cut - Self.head.utf8.count) / events[0].utf8.count
                world.scripts(
                    "api.test",
                    [
                        [.expectRequest] + (cut == 0 ? [] : [.reply(first), .delay(.milliseconds(10))]) + [fate],
                        [.expectRequest, .reply(Self.head + events[complete...].joined()), .close],
                        [.expectRequest, .reply(Self.noContent)],
                    ]
                )
                let seen = try read(world)
                #expect(seen.events.map(\.id) == ["1", "2", "3"] && seen.end?.error == nil, "\(cut), \(fate)")
                #expect(world.finish() == [])
            }
        }
    }

    @Test func `the delegate hears when the stream opens, has comments, is lost, waits and ends`() throws {
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("\(Self.head): alive\ndata: a\n\n:still\n"), .close],
                [.expectRequest, .reset],
                [.expectRequest, .reply("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), .close],
                [.expectRequest, .reply("\(Self.head)data: b\n\n"), .close],
                [.expectRequest, .reply(Self.noContent)],
            ]
        )
        var options = EventStreamOptions()
        options.reconnectingStatusCodes = [503]
        let listener = Listener()

        let seen = try read(world, options, listener)

        #expect(seen.events.map(\.data) == ["a", "b"])
        #expect(
            listener.log.withLock { $0 } == [
                "open 200", "comment alive", "comment still", "attempt 1 after three", "attempt 2 after three -1005",
                "attempt 3 after three 503", "open 200", "attempt 1 after three", "end 0",
            ]
        )
    }

    @Test func `a first connection that cannot be made is bounded by itself`() throws {
        let world = VirtualWorld()
        world.host("api.test", "192.0.2.1")
        world.set(.refuses(), for: "192.0.2.1")
        var options = EventStreamOptions()
        options.maximumInitialAttempts = 2
        let listener = Listener()

        let seen = try read(world, options, listener)

        #expect((seen.end?.error as? URLError)?.code == .cannotConnectToHost)
        #expect(listener.log.withLock { $0 } == ["attempt 2 after three -1004", "end -1004"])
    }

    @Test func `attempts after the first opening are not those before it`() throws {
        let world = VirtualWorld()
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("\(Self.head)data: a\n\n"), .close], [.expectRequest, .reset],
                [.expectRequest, .reset], [.expectRequest, .reply(Self.noContent)],
            ]
        )
        var options = EventStreamOptions()
        options.maximumInitialAttempts = 1

        let seen = try read(world, options)

        #expect(seen.events.count == 1 && seen.end?.error == nil)
    }

    @Test func `a refused response that does not end is told after two seconds`() throws {
        let head = "HTTP/1.1 429 No\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nslow"
        world.scripts("api.test", [[.expectRequest, .reply(head), .stall]])

        let end = try #require(try read(world).end)

        let refused = try #require((end.error as? URLError)?.refusedResponse)
        #expect(refused.text == "slow" && !refused.isComplete && refused.response.statusCode == 429)
        #expect(end.time >= 2 && end.time < 2.5)
    }

    @Test func `the longest waits are waited, and cancelled`() throws {
        let longest = Duration.seconds(Int64.max)
        for seed in 1...10 {
            let world = VirtualWorld(seed: UInt64(seed))
            world.scripts("api.test", [[.expectRequest, .reply("\(Self.head)data: a\n\n"), .close]])
            var options = EventStreamOptions()
            (options.initialDelay, options.maximumDelay) = (longest, longest)
            let stream = world.session.events(from: URL(string: "http://api.test/events")!, options: options)
            let end = Lock<(any Error)?>(nil)
            let reader = Task(executorPreference: CallbackTaskExecutor(world.queue)) {
                do { for try await _ in stream {} } catch { end.withLock { $0 = error } }
            }
            world.run(limit: .seconds(1000))
            #expect(end.withLock { $0 } == nil)
            reader.cancel()
            world.run(limit: .seconds(10))
            #expect((end.withLock { $0 } as? URLError)?.code == .cancelled)
        }
    }

    @Test func `T-SSE-08 a server that lies when the stream comes back ends it`() throws {
        let world = VirtualWorld()
        world.scripts(
            "api.test",
            [
                [.expectRequest, .reply("\(Self.head)data: a\n\n"), .close],
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n")],
            ]
        )

        let seen = try read(world)

        #expect(seen.events.count == 1 && (seen.end?.error as? URLError)?.loadFailure?.reason == .response)
    }
}
