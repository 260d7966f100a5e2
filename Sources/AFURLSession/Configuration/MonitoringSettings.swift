/// The monitors of a session.
struct MonitoringSettings: Sendable {
    var monitors: [any SessionEventMonitor] = []
    var keepsMetrics = false
}

extension URLSessionConfiguration {
    /// The monitors that the session tells what it does: its tasks and its connections. None by default.
    ///
    /// A session without monitors does no work for them.
    public var eventMonitors: [any SessionEventMonitor] {
        get { self[\.monitoring.monitors] }
        set { self[\.monitoring.monitors] = newValue }
    }

    /// Whether every task of the session has ``URLSessionTask/metrics`` when it has completed. False.
    public var keepsTaskMetrics: Bool {
        get { self[\.monitoring.keepsMetrics] }
        set { self[\.monitoring.keepsMetrics] = newValue }
    }
}
