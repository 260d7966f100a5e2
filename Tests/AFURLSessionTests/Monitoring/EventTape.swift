/// Everything that happens while a session works, in classes of tests.
enum MonitoringTests {}

/// A monitor that writes down everything it hears, in order.
final class EventTape: SessionEventMonitor {
    let events = Watched<[SessionEvent]>([])

    func observe(_ event: SessionEvent) {
        events.change { $0.append(event) }
    }

    var all: [SessionEvent] { events.value }
    var kinds: [SessionEvent.Kind] { all.map(\.kind) }
    /// The first word of each description, of tasks only.
    var taskWords: [String] { words { $0.task != nil } }
    var connectionWords: [String] { words { $0.task == nil } }

    /// Waits for the end of so many tasks.
    func completed(_ count: Int = 1) async throws -> [SessionEvent] {
        try await events.wait("\(count) completions") { $0.count(where: \.isCompletion) >= count }
    }

    private func words(_ isMeant: (SessionEvent) -> Bool) -> [String] {
        all.filter(isMeant).map { String($0.kind.description.prefix { $0 != " " }) }
    }
}

extension SessionEvent {
    var isCompletion: Bool {
        if case .completed = kind { true } else { false }
    }
}

extension URLSessionTaskTransactionMetrics {
    /// All dates there are, in the order of the phases.
    var stamps: [Date] {
        [
            fetchStartDate, domainLookupStartDate, domainLookupEndDate, connectStartDate, secureConnectionStartDate,
            secureConnectionEndDate, connectEndDate, requestStartDate, requestEndDate, responseStartDate,
            responseEndDate,
        ].compactMap { $0 }
    }
    var status: Int? { (response as? HTTPURLResponse)?.statusCode }
}
