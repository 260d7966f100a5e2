/// Hears what a session does, while it happens.
///
/// Set it as one of the ``URLSessionConfiguration/eventMonitors`` of a configuration. ``LoggingMonitor`` writes a line
/// for each event, ``HARRecorder`` keeps the traffic for a file.
///
/// The session calls it on a serial queue of its own, in the order of the events, and never on the network thread: a
/// monitor that blocks delays only the other monitors of its session. If you give a monitor to several sessions, the
/// calls of each session come one at a time.
///
/// At most 4096 events wait for a monitor. Of the counts of body bytes only the latest waits. When three quarters of
/// the room are full, the session keeps only the events of tasks themselves (made, resumed, suspended, cancelled,
/// response, completed); when all of it is full, it keeps none. ``SessionEvent/Kind/missed(count:)`` stands where
/// events are missing.
///
/// No event holds a secret that the library recognises: URLs have no user name and password, and not the values of
/// query items like `access_token`; there are no header values and no bodies.
public protocol SessionEventMonitor: Sendable {
    /// Something happened.
    func observe(_ event: SessionEvent)
}
