/// The monitors of a session.
struct SeeingSettings: Sendable {
    var monitors: [any SessionEventMonitor] = []
    var keepsMetrics = false
}

extension URLSessionConfiguration {
    /// The monitors that the session tells what it does: its tasks and its connections. None by default.
    ///
    /// A session without monitors does no work for them.
    public var eventMonitors: [any SessionEventMonitor] {
        get { self[\.seeing.monitors] }
        set { self[\.seeing.monitors] = newValue }
    }

    /// Whether every task of the session has ``URLSessionTask/metrics`` when it has completed. False.
    public var keepsTaskMetrics: Bool {
        get { self[\.seeing.keepsMetrics] }
        set { self[\.seeing.keepsMetrics] = newValue }
    }
}
