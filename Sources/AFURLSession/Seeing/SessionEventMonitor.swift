/// Hears what a session does, as it happens.
///
/// Set it as one of the ``URLSessionConfiguration/eventMonitors`` of a configuration. ``LoggingMonitor`` writes a line
/// for each event, ``HARRecorder`` keeps the traffic for a file.
///
/// Called on a serial queue of the session's own, in the order in which things happened, never on the network thread:
/// a monitor that blocks holds up nobody but the other monitors of its session. For one that is given to several
/// sessions, the calls of each come one at a time.
///
/// At most 4096 events wait for a monitor. Of body bytes only the latest count waits. When a quarter of the room is
/// left, only events of tasks themselves are kept (made, resumed, suspended, cancelled, response, completed), and none
/// when there is none; ``SessionEvent/Kind/missed(count:)`` stands where events are missing.
///
/// No event holds a secret that the library knows to be one: URLs are without user name and password, and without the
/// values of query items like `access_token`; there are no header values and no bodies.
public protocol SessionEventMonitor: Sendable {
    /// Something happened.
    func observe(_ event: SessionEvent)
}
