public import Foundation

/// The plans that the owner of a task sets in advance. Most tasks have none, so they take the space of a reference.
enum TaskPlans: Sendable {
    case none
    indirect case own(Own)

    struct Own: Sendable {
        var earliestBeginDate: Date?
        var bytesToSend = NSURLSessionTransferSizeUnknown
        var bytesToReceive = NSURLSessionTransferSizeUnknown
    }

    var value: Own {
        get { if case .own(let plans) = self { plans } else { Own() } }
        set { self = .own(newValue) }
    }
}

extension URLSessionTask {
    /// The task loads nothing before this date. Nil, the default: it begins as soon as you resume it.
    ///
    /// Set it before you resume the task. When the date has come, the session asks the delegate with
    /// ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)``. The time until then
    /// counts towards no timeout. A task that is suspended when the date comes begins when you resume it.
    public var earliestBeginDate: Date? {
        get { snapshot.withLock { $0.plans.value.earliestBeginDate } }
        set { snapshot.withLock { $0.plans.value.earliestBeginDate = newValue } }
    }

    /// How many bytes you expect the task to send: for your own use, the session schedules nothing by it.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToSend } }
        set { snapshot.withLock { $0.plans.value.bytesToSend = newValue } }
    }

    /// How many bytes you expect the task to receive: for your own use, the session schedules nothing by it.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToReceive } }
        set { snapshot.withLock { $0.plans.value.bytesToReceive = newValue } }
    }
}
