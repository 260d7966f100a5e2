import AFBase
import Dispatch

@testable import AFNetworking
@testable import AFSerialization

/// What happens to notifications while no thread serves the main queue.
@Suite struct NotificationPostTests {
    private static let room = NotificationPoster.room

    /// Blocks the main queue until the test opens it. Notifications posted meanwhile wait, in order.
    private final class HeldMainQueue: Sendable {
        private let gate = DispatchSemaphore(value: 0)

        init() {
            MainQueue.async { [gate] in gate.wait() }
        }

        func goOn() {
            gate.signal()
        }
    }

    // Unchecked: made by one thread, and read by the observers.
    private final class Noted: NotificationDetails, @unchecked Sendable {
        let userInfo: [AnyHashable: Any]

        init(_ userInfo: [AnyHashable: Any]) {
            self.userInfo = userInfo
        }
    }

    /// Something that a notification holds.
    private final class Body: Sendable {
        static let alive = Lock(Set<Int>())
        let number: Int

        init(_ number: Int) {
            self.number = number
            Body.alive.withLock { _ = $0.insert(number) }
        }

        deinit {
            Body.alive.withLock { _ = $0.remove(number) }
        }
    }

    private func heard(_ name: Notification.Name, _ body: (NotificationPoster) -> Void) async throws -> [Int] {
        let heard = Heard<Int>()
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            heard.add(notification.userInfo?["number"] as? Int ?? -1)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let post = NotificationPoster()
        let main = HeldMainQueue()
        body(post)
        main.goOn()
        // After everything that was posted.
        await withCheckedContinuation { continuation in MainQueue.whenQuiet { continuation.resume() } }
        return heard.all
    }

    @Test(
        "of notifications that cannot be delivered the latest 4096 wait, in order",
        arguments: [1, room - 1, room, room + 1, 2 * room - 1, 2 * room, 2 * room + 1, 3 * room + 7]
    )
    func latest(count: Int) async throws {
        let name = Notification.Name("post \(count) \(UUID())")

        let heard = try await heard(name) { post in
            for number in 0..<count { post.post(name, object: NSNull(), details: Noted(["number": number])) }
        }

        #expect(Self.room == 4096)
        #expect(heard == Array((0..<count).suffix(Self.room)))
    }

    @Test func `dropped notifications are released at once, and later ones are delivered`() async throws {
        let name = Notification.Name("post \(UUID())")
        let count = Self.room + 100
        let remains = Heard<Bool>()

        let heard = try await heard(name) { post in
            for number in 0..<count {
                let body = Body(number)
                post.post(name, object: NSNull(), details: Noted(["number": number, "body": body]))
            }
            let wanted = Set((0..<count).suffix(Self.room))
            // They are released on a queue of their own.
            let end = ContinuousClock.now + .seconds(60)
            while Body.alive.withLock({ $0 }) != wanted && ContinuousClock.now < end { usleep(1000) }
            remains.add(Body.alive.withLock { $0 } == wanted)
        }

        #expect(remains.all == [true])
        #expect(heard == Array(100..<count))
        try await eventually("the last bodies to go") { Body.alive.withLock { $0 }.isEmpty }
        let after = try await self.heard(name) { $0.post(name, object: NSNull(), details: Noted(["number": 1])) }
        #expect(after == [1])
    }

    @Test func `a notification from the main queue is heard at once, unless others wait in front of it`() async throws {
        let name = Notification.Name("post \(UUID())")
        let heard = Heard<Int>()
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            heard.add(notification.userInfo?["number"] as? Int ?? -1)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let (post, counts) = (NotificationPoster(), Heard<Int>())
        MainQueue.async {
            post.post(name, object: heard, details: Noted(["number": 1]), onMainQueue: true)
            counts.add(heard.all.count)
            post.post(name, object: heard, details: Noted(["number": 2]))
            post.post(name, object: heard, details: Noted(["number": 3]), onMainQueue: true)
            counts.add(heard.all.count)
        }

        #expect(try await heard.wait(for: 3) == [1, 2, 3])
        #expect(counts.all == [1, 1])
    }

    @Test func `a notification that an observer posts is delivered after the others`() async throws {
        let name = Notification.Name("post \(UUID())")
        let post = NotificationPoster()
        let heard = Heard<Int>()
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            let number = notification.userInfo?["number"] as? Int ?? -1
            heard.add(number)
            if number < 10 { post.post(name, object: heard, details: Noted(["number": number + 10])) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let main = HeldMainQueue()
        for number in 0..<3 { post.post(name, object: heard, details: Noted(["number": number])) }
        main.goOn()

        #expect(try await heard.wait(for: 6) == [0, 1, 2, 10, 11, 12])
    }
}
