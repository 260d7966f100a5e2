/// Finds the addresses of a name: the third of the three seams through which the world enters. Confined to its loop.
package protocol Resolver: AnyObject {
    /// Answers `client` in a later turn, exactly once unless it is cancelled.
    func resolve(_ name: String, for client: any ResolverClient)

    /// The client hears nothing any more. The lookup itself may go on.
    func cancel(_ client: any ResolverClient)
}

package protocol ResolverClient: AnyObject {
    /// Addresses without a port, in the order in which the system prefers them.
    func resolved(_ result: Result<[SocketAddress], ResolutionFailure>)
}
