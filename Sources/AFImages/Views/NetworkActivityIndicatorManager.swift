import AFBase
import AFNetworking
import Dispatch
public import Foundation

/// Says when to show that the network is used.
///
/// ```swift
/// let indicator = NetworkActivityIndicatorManager.shared
/// indicator.setNetworkingActivityAction { isVisible in window.setBusy(isVisible) }
/// indicator.isEnabled = true
/// ```
///
/// It counts the tasks of all session managers that run, and the operations that execute. When there has been one for
/// ``activationDelay`` the action is called with true; when there has been none for ``completionDelay``, with false.
/// What overlaps is one activity.
///
/// Safe to use from any thread.
public final class NetworkActivityIndicatorManager: Sendable {
    /// Called with whether activity is to be shown, on the main queue.
    public typealias Action = @MainActor @Sendable (Bool) -> Void
    /// Called with the number of activities, on the main queue.
    public typealias CountObserver = @MainActor @Sendable (Int) -> Void

    struct WeakOperation: Sendable {
        weak var operation: URLConnectionOperation?
    }

    struct State: Sendable {
        var isEnabled = false
        var activationDelay: TimeInterval = 1
        var completionDelay: TimeInterval = 0.17
        var action: Action?
        var countObserver: CountObserver?
        /// The count of `incrementActivityCount()`.
        var manualCount = 0
        /// A task counts once, however often it is announced.
        var tasks: Set<URLSessionTask> = []
        var operations: [ObjectIdentifier: WeakOperation] = [:]
        /// How many notifications had been dropped when tasks and operations were last looked through.
        var dropCount = 0
        var machine = ActivityMachine()
        var isVisible = false
        var timer: ActivityTimer?

        var count: Int { manualCount + tasks.count + operations.count }

        /// Forgets what has ended or rests: the notification of that may have been dropped.
        mutating func removeEnded() {
            tasks = tasks.filter { $0.state == .running || $0.state == .canceling }
            operations = operations.filter { $0.value.operation?.isExecuting == true }
        }
    }

    private let state: Lock<State>
    private let clock: any ActivityClock
    private let post: NotificationPoster
    private let notifications = Lock<ActivityNotifications?>(nil)

    private static let sharedInstance = NetworkActivityIndicatorManager()

    /// The manager of the process.
    public class var shared: NetworkActivityIndicatorManager { sharedInstance }

    /// ``shared`` by its other name.
    public class func sharedManager() -> NetworkActivityIndicatorManager { shared }

    /// A manager that is not enabled.
    public convenience init() {
        self.init(clock: MainQueueClock())
    }

    /// - Parameters:
    ///   - clock: Measures the delays.
    ///   - center: Where tasks are announced.
    ///   - post: Posts there, and may drop notifications.
    init(clock: any ActivityClock, center: NotificationCenter = .default, post: NotificationPoster = .main) {
        self.clock = clock
        self.post = post
        // What was dropped before concerns no activity of this manager.
        state = Lock(State(dropCount: post.dropCount))
        let heard = ActivityNotifications(center: center) { [weak self] in self?.heard($0) }
        notifications.withLock { $0 = heard }
    }

    // MARK: - Settings

    /// Whether activity is shown. False, unless set. Setting it to true also shows activity that has begun; setting it
    /// to false hides what is shown.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set {
            state.withLock { $0.isEnabled = newValue }
            if newValue { evaluate() } else { MainQueue.onMainActor { self.handle(.disabled) } }
        }
    }

    /// How long there must be activity before it is shown, in seconds. 1, unless set.
    public var activationDelay: TimeInterval {
        get { state.withLock { $0.activationDelay } }
        set { state.withLock { $0.activationDelay = newValue } }
    }

    /// How long there must be none before it is hidden, in seconds. 0.17, unless set: between two requests nothing
    /// flickers.
    public var completionDelay: TimeInterval {
        get { state.withLock { $0.completionDelay } }
        set { state.withLock { $0.completionDelay = newValue } }
    }

    /// Whether activity is shown at present.
    public var isNetworkActivityIndicatorVisible: Bool { state.withLock { $0.isVisible } }

    /// Sets what shows and hides. Called on the main queue, for changes only.
    @preconcurrency
    public func setNetworkingActivityAction(_ block: Action?) {
        state.set(\.action, block)
    }

    /// Sets what is called once for each change of ``activityCount``. Called on the main queue.
    @preconcurrency
    public func setActivityCountDidChange(_ block: CountObserver?) {
        state.set(\.countObserver, block)
    }

    // MARK: - Counting

    /// How many activities there are. Counted whether enabled or not.
    public var activityCount: Int { state.withLock { $0.count } }

    /// Counts an activity that is no task and no operation.
    public func incrementActivityCount() {
        change { $0.manualCount += 1 }
    }

    /// Undoes one ``incrementActivityCount()``. Does nothing if there is none.
    public func decrementActivityCount() {
        change { $0.manualCount = max($0.manualCount - 1, 0) }
    }

    private func heard(_ news: ActivityNotifications.News) {
        change { state in
            switch news {
            case .taskRuns(let task): state.tasks.insert(task)
            case .taskRests(let task): state.tasks.remove(task)
            case .operationRuns(let operation):
                state.operations[ObjectIdentifier(operation)] = WeakOperation(operation: operation)
            case .operationRests(let operation): state.operations[ObjectIdentifier(operation)] = nil
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let dropCount = post.dropCount
        // Release tasks after the lock: their handlers are the program's code.
        let (count, observer, _) = state.withLock { state -> (Int?, CountObserver?, Set<URLSessionTask>?) in
            let former = state.count
            body(&state)
            guard state.dropCount != dropCount else {
                return (state.count == former ? nil : state.count, state.countObserver, nil)
            }
            let tasks = state.tasks
            state.dropCount = dropCount
            state.removeEnded()
            return (state.count == former ? nil : state.count, state.countObserver, tasks)
        }
        guard let count else { return }
        if let observer { MainQueue.onMainActor { observer(count) } }
        evaluate()
    }

    // MARK: - Showing

    private func evaluate() {
        MainQueue.onMainActor {
            let event = self.state.withLock { state in
                state.isEnabled ? ActivityMachine.Event.activity(state.count > 0) : .disabled
            }
            self.handle(event)
        }
    }

    @MainActor private func handle(_ event: ActivityMachine.Event) {
        switch state.withLock({ $0.machine.handle(event) }) {
        case .none: break
        case .startActivationTimer: startTimer(activationDelay)
        case .startCompletionTimer: startTimer(completionDelay)
        case .cancelTimer: cancelTimer()
        case .show: show(true)
        case .hide: show(false)
        case .cancelTimerAndHide:
            cancelTimer()
            show(false)
        }
    }

    @MainActor private func startTimer(_ delay: TimeInterval) {
        cancelTimer()
        let timer = ActivityTimer()
        state.withLock { $0.timer = timer }
        clock.call(after: delay) { [weak self] in
            // A timer that was cancelled may still fire: ignore it.
            guard let self, state.withLock({ $0.timer === timer }) else { return }
            cancelTimer()
            handle(.timer(isActive: activityCount > 0))
        }
    }

    @MainActor private func cancelTimer() {
        state.withLock { $0.timer = nil }
    }

    @MainActor private func show(_ isVisible: Bool) {
        let (isChange, action) = state.withLock { state in
            defer { state.isVisible = isVisible }
            return (state.isVisible != isVisible, state.action)
        }
        if isChange { action?(isVisible) }
    }
}

/// Identifies one start of the timer.
final class ActivityTimer: Sendable {}

/// Measures delays.
protocol ActivityClock: Sendable {
    /// Calls `body` on the main queue, not before `seconds` have passed.
    func call(after seconds: TimeInterval, body: @escaping @MainActor @Sendable () -> Void)
}

private struct MainQueueClock: ActivityClock {
    func call(after seconds: TimeInterval, body: @escaping @MainActor @Sendable () -> Void) {
        // At most a year: the deadline of an infinite delay would trap. NaN counts as 0.
        let seconds = min(max(seconds.isNaN ? 0 : seconds, 0), 31_536_000)
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { MainQueue.onMainActor(body) }
    }
}
