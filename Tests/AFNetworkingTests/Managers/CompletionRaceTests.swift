import AFBase
import Dispatch
import Synchronization

@testable import AFNetworking

/// Tasks that several threads make, resume, cancel and drop while one of them ends the session.
@Suite struct CompletionRaceTests {
    /// Every method that takes a completion handler, and what a program may do to the task.
    private enum Style: Int, CaseIterable, Sendable {
        case get, form, head, made, data, upload, streamed, download, cancelled, suspended, unresumed, awaited
    }

    /// How often each completion handler was called.
    private final class Calls: Sendable {
        private let counts: Lock<[UInt8]>
        private let total = Atomic(0)

        init(count: Int) {
            counts = Lock(Array(repeating: 0, count: count))
        }

        var all: Int { total.load(ordering: .acquiring) }
        var missing: [Int] { counts.withLock { counts in counts.indices.filter { counts[$0] == 0 } } }
        var repeated: Int { counts.withLock { counts in counts.count { $0 > 1 } } }

        func add(_ number: Int) {
            counts.withLock { $0[number] += 1 }
            total.add(1, ordering: .releasing)
        }
    }

    /// Overrides nothing, but might: its verbs call the methods that can be overridden.
    private final class Subclass: HTTPSessionManager, @unchecked Sendable {}

    private static let perEnding = 16
    private static let endings = 4
    private static let perManager = perEnding * endings
    /// `AFNET_RACES` tasks; a hundred thousand, unless set.
    private static let races = ProcessInfo.processInfo.environment["AFNET_RACES"].flatMap { Int($0) } ?? 100_000

    private let queue = DispatchQueue(label: "completions")

    @Test func `each completion handler is called exactly once, however the session ends meanwhile`() async throws {
        let managers = (Self.races + Self.perManager - 1) / Self.perManager
        let count = managers * Self.perManager
        let calls = Calls(count: count)
        var random = SystemRandomNumberGenerator()
        for index in 0..<managers {
            let manager = index.isMultiple(of: 2) ? HTTPSessionManager() : Subclass()
            manager.completionQueue = queue
            for ending in 1...Self.endings {
                let first = index * Self.perManager + (ending - 1) * Self.perEnding
                end(manager, isLast: ending == Self.endings, amid: first..<first + Self.perEnding, calls, &random)
            }
            await deliverNotifications()
        }
        try? await eventually("\(count) completions") { calls.all >= count }

        let missing = calls.missing
        let styles = Dictionary(grouping: missing, by: Self.style).mapValues(\.count)
        #expect(missing.isEmpty, "\(missing.count) of \(count) were lost: \(styles)")
        #expect(calls.repeated == 0)
    }

    /// Waits for the main queue: managers drop notifications beyond 4096 that wait, also those of other tests.
    private func deliverNotifications() async {
        await withCheckedContinuation { continuation in
            OperationQueue.main.addOperation { continuation.resume() }
        }
    }

    private static func style(_ number: Int) -> Style {
        // Each style meets each place near the end, in time.
        Style.allCases[(number + number / perEnding) % Style.allCases.count]
    }

    /// Makes tasks on as many threads as there are processors, one of which ends the session.
    private func end(
        _ manager: HTTPSessionManager,
        isLast: Bool,
        amid numbers: Range<Int>,
        _ calls: Calls,
        _ random: inout SystemRandomNumberGenerator
    ) {
        let place = Int.random(in: 0...numbers.count, using: &random)
        let (cancels, resets) = (Bool.random(using: &random), !isLast && Bool.random(using: &random))
        let keeps = Bool.random(using: &random)
        let handles = Lock<[URLSessionTask]>([])
        DispatchQueue.concurrentPerform(iterations: numbers.count + 1) { index in
            guard index != place else {
                return manager.invalidateSessionCancelingTasks(cancels, resetSession: resets)
            }
            let number = numbers.lowerBound + (index < place ? index : index - 1)
            let task = start(Self.style(number), on: manager, number) { calls.add(number) }
            if keeps, let task { handles.withLock { $0.append(task) } }
        }
        // A session that was not reset stays ended: the next round needs another one.
        if !isLast, !resets { manager.invalidateSessionCancelingTasks(cancels, resetSession: true) }
        withExtendedLifetime(handles) {}
    }

    private func start(
        _ style: Style,
        on manager: HTTPSessionManager,
        _ number: Int,
        _ done: @escaping @Sendable () -> Void
    ) -> URLSessionTask? {
        // Neither needs a server: a `data:` URL has its content, and an unused port refuses at once.
        let text = number.isMultiple(of: 3) ? "http://127.0.0.1:1/" : "data:application/json,%5B%5D"
        guard let url = URL(string: text) else { return nil }
        let request = URLRequest(url: url)
        let body = Data("body".utf8)
        let task: URLSessionTask?
        switch style {
        case .get:
            return manager.get(text, parameters: nil) { _, _ in
                done()
            } failure: { _, _ in
                done()
            }
        case .form:
            return manager.post(text, parameters: nil, constructingBodyWith: nil) { _, _ in
                done()
            } failure: { _, _ in
                done()
            }
        case .head:
            return manager.head(text, parameters: nil) { _ in
                done()
            } failure: { _, _ in
                done()
            }
        case .made:
            task = manager.dataTask(
                withHTTPMethod: "PUT",
                urlString: text,
                parameters: nil,
                headers: nil,
                uploadProgress: nil,
                downloadProgress: nil,
                success: { _, _ in done() },
                failure: { _, _ in done() }
            )
        case .data, .cancelled, .suspended, .unresumed:
            task = manager.dataTask(with: request) { _, _, _ in done() }
        case .upload:
            task = manager.uploadTask(with: request, from: body, progress: nil) { _, _, _ in done() }
        case .streamed:
            var request = request
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: body)
            task = manager.uploadTask(withStreamedRequest: request, progress: nil) { _, _, _ in done() }
        case .download:
            task = manager.downloadTask(with: request, progress: nil, destination: nil) { _, _, _ in done() }
        case .awaited:
            Task {
                _ = try? await manager.get(text)
                done()
            }
            return nil
        }
        if style == .suspended { task?.suspend() }
        if style != .unresumed { task?.resume() }
        if style == .cancelled { task?.cancel() }
        return task
    }
}
