public import Foundation

/// What the owner of a task has said beforehand. Hardly any says something, so it takes the room of a reference.
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
    /// Not before this date is anything loaded. Nil, the default: as soon as the task is resumed.
    ///
    /// Set it before the task is resumed. When the date has come, the delegate is asked with
    /// ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)``. The time until then
    /// counts towards no timeout. A task that is suspended when the date comes begins when it is resumed.
    public var earliestBeginDate: Date? {
        get { snapshot.withLock { $0.plans.value.earliestBeginDate } }
        set { snapshot.withLock { $0.plans.value.earliestBeginDate = newValue } }
    }

    /// How many bytes you expect the task to send: for your own use, as nothing here is scheduled by it.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToSend } }
        set { snapshot.withLock { $0.plans.value.bytesToSend = newValue } }
    }

    /// How many bytes you expect the task to receive: for your own use, as nothing here is scheduled by it.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { snapshot.withLock { $0.plans.value.bytesToReceive } }
        set { snapshot.withLock { $0.plans.value.bytesToReceive = newValue } }
    }
}
