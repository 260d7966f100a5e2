import AFBase

@testable import AFNetworking

struct RequestNotificationTests {
    @Test func `nothing is posted before the program has read a name`() async {
        await #expect(processExitsWith: .success) {
            let heard = Heard()
            RequestNotification.taskDidComplete.post(object: heard, onMainQueue: true)
            RequestNotification.operationDidStart.post(object: heard, onMainQueue: true)
            precondition(heard.names.isEmpty)

            _ = Notification.Name.networkingTaskDidResume
            RequestNotification.taskDidComplete.post(object: heard, onMainQueue: true)
            RequestNotification.operationDidStart.post(object: heard, onMainQueue: true)
            precondition(
                heard.names == ["com.alamofire.networking.task.complete", "com.alamofire.networking.operation.start"]
            )
        }
    }

    @Test func `an old name counts as well`() async {
        await #expect(processExitsWith: .success) {
            let heard = Heard()
            _ = Notification.Name.AFNetworkingOperationDidFinish
            RequestNotification.taskDidSuspend.post(object: heard, onMainQueue: true)
            precondition(heard.names == ["com.alamofire.networking.task.suspend"])
        }
    }

    @Test func `a request is served alike when nothing is posted`() async {
        await #expect(processExitsWith: .success) {
            let heard = Heard()
            let server = try TestServer()
            server.route("GET", "/a", .json("[1]"))
            let manager = HTTPSessionManager(baseURL: server.url())
            manager.completionQueue = DispatchQueue(label: "completion")
            let value = try await manager.get("a", decode: [Int].self)
            precondition(value == [1] && heard.names.isEmpty)
        }
    }

    /// Observes all names, and so reads none.
    private final class Heard: Sendable {
        private let list = Lock<[String]>([])
        var names: [String] { list.withLock { $0 } }

        init() {
            _ = NotificationCenter.default.addObserver(forName: nil, object: nil, queue: nil) { [list] notification in
                guard notification.name.rawValue.hasPrefix("com.alamofire.networking.") else { return }
                list.withLock { $0.append(notification.name.rawValue) }
            }
        }
    }
}
