package import AFLoop
import AFVirtualSystem

/// Tells of changes of the network when a test says that there is one.
package final class VirtualMonitor: ChangeMonitor {
    private var clients = ChangeClients()

    /// Whether the monitor has clients.
    package var isWatched: Bool { !clients.isEmpty }

    package func watch(for client: any ChangeMonitorClient) -> Int { clients.add(client) }
    package func unwatch(_ ticket: Int) { clients.remove(ticket) }

    func changed() {
        for ticket in clients.tickets { clients[ticket]?.networkChanged() }
    }
}

/// One monitor behind the worlds of several sessions.
final class MonitorDoor: ChangeMonitor {
    private let monitor: ThreadBound<VirtualMonitor>

    init(monitor: ThreadBound<VirtualMonitor>) {
        self.monitor = monitor
    }

    func watch(for client: any ChangeMonitorClient) -> Int { monitor.value.watch(for: client) }
    func unwatch(_ ticket: Int) { monitor.value.unwatch(ticket) }
}
