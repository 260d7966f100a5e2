/// Finds the addresses of a name: the third of the three seams through which the world enters. Confined to its loop.
package protocol Resolver: AnyObject {
    /// Answers `client` in a later turn, exactly once unless it is cancelled.
    func resolve(_ name: String, for client: any ResolverClient)

    /// The same for who connects to this port: the program's resolver is told.
    func resolve(_ name: String, port: UInt16, for client: any ResolverClient)

    /// The client hears nothing any more. The lookup itself may go on.
    func cancel(_ client: any ResolverClient)
}

extension Resolver {
    package func resolve(_ name: String, port: UInt16, for client: any ResolverClient) { resolve(name, for: client) }
}

package protocol ResolverClient: AnyObject {
    /// The addresses of one family, if those of the other are not known yet. `resolved` follows, with both.
    func resolvedFirst(_ addresses: [SocketAddress])

    /// Addresses without a port, in the order in which the system prefers them.
    func resolved(_ result: Result<[SocketAddress], ResolutionFailure>)
}

extension ResolverClient { package func resolvedFirst(_ addresses: [SocketAddress]) {} }
