import AFBase

@testable import AFNetworking

/// How often managers call their serializers, and where.
@Suite struct SerializerCallTests {
    /// Says which query each response is of.
    private final class Counting: HTTPResponseSerializer, @unchecked Sendable {
        let calls = Heard<String>()
        let hook = Lock<(@Sendable () -> Void)?>(nil)

        override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
            dispatchPrecondition(condition: .onQueue(URLSessionManager.processingQueue))
            calls.add(response?.url?.query ?? "")
            hook.withLock { $0 }?()
            return data
        }
    }

    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let serializer = Counting()

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        manager.responseSerializer = serializer
        manager.completionQueue = DispatchQueue(label: "SerializerCallTests")
    }

    @Test func `T-API-26 the body of a task is serialized once, and not if the task was cancelled`() async throws {
        let heard = Heard<(number: Int, code: Int?)>()
        for number in 0..<90 {
            let task = manager.dataTask(with: site.request("/get?\(number)")) { _, object, error in
                heard.add((number, (error as NSError?)?.code))
                #expect((object == nil) == (error != nil))
            }
            task.resume()
            // Some before they begin, some while they run, some when they may have ended, and some never.
            for _ in 0..<(number % 3 * number * 7) { await Task.yield() }
            if number % 4 != 3 { task.cancel() }
        }
        let answers = try await heard.wait(for: 90)

        #expect(Set(answers.map(\.number)).count == 90)
        #expect(answers.allSatisfy { [nil, NSURLErrorCancelled].contains($0.code) })
        #expect(answers.count { $0.code == nil } >= 22 && answers.count { $0.code != nil } > 0)
        let served = answers.filter { $0.code == nil }.map { "\($0.number)" }
        #expect(serializer.calls.all.sorted() == served.sorted())
    }

    @Test func `T-API-26 changes that a serializer makes to its task and its manager do not affect this body`()
        async throws
    {
        let heard = Heard<Int?>()
        let task = manager.dataTask(with: site.request("/get?0")) { _, object, error in
            heard.add((object as? Data)?.count ?? (error as NSError?)?.code)
        }
        serializer.hook.withLock { hook in
            hook = { [manager] in
                task.cancel()
                manager.responseSerializer = JSONResponseSerializer()
                manager.invalidateSessionCancelingTasks(true, resetSession: true)
            }
        }
        task.resume()

        let length = try await heard.first
        #expect(length ?? 0 > 0)
        let after = Heard<Answer>()
        manager.dataTask(with: site.request("/get?1"), completionHandler: after.completion).resume()
        #expect(try await after.first.json?["method"] as? String == "GET")
        #expect(serializer.calls.all == ["0"] && heard.all.count == 1)
    }
}
