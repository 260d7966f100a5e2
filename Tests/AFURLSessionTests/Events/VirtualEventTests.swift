import AFBase
import AFLoop
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

/// Streams of events on a virtual network, by its clock.
struct VirtualEventTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    private static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"

    /// What the reader of a stream saw, and when, in seconds since it began.
    private struct Seen {
        var events: [ServerSentEvent] = []
        var times: [Double] = []
        var end: (time: Double, error: (any Error)?)?
    }

    /// Reads a stream to its end.
    private func read(_ world: VirtualWorld, _ options: EventStreamOptions = EventStreamOptions()) throws -> Seen {
        let stream = world.session.events(from: try #require(URL(string: "http://api.test/events")), options: options)
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
            for fate: ScriptStep in [.close, .reset] {
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
