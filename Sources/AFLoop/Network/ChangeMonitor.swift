/// Tells when something about the network of this machine has changed: a link, an address, a route. The fourth of the
/// seams through which the world enters. Confined to its loop.
package protocol ChangeMonitor: AnyObject {
    /// - Returns: What the client is known by from now on.
    func watch(for client: any ChangeMonitorClient) -> Int
    /// The client hears nothing any more.
    func unwatch(_ ticket: Int)
}

package protocol ChangeMonitorClient: AnyObject {
    /// What could not be reached may be reachable now.
    func networkChanged()
}
