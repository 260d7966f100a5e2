/// Who looks on while a session works.
struct SeeingSettings: Sendable {
    var monitors: [any SessionEventMonitor] = []
    var keepsMetrics = false
}

extension URLSessionConfiguration {
    /// Who hears what the session does: its tasks and its connections. None.
    ///
    /// A session without monitors does nothing for them.
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
