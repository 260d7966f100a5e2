/// The names of this machine: `localhost` and all below it (RFC 6761 §6.3).
///
/// Whatever name servers say of them, or fail to say: a server on a loopback address trusts no other machine.
package enum LoopbackNames {
    private static let addresses = [SocketAddress(ipv6: "::1", port: 0), SocketAddress(ipv4: "127.0.0.1", port: 0)]
        .compactMap { $0 }

    package static func contains(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // One dot may end a name.
        guard let last = labels.last(where: { !$0.isEmpty }) else { return false }
        return last.map { $0 | 0x20 } == Array("localhost".utf8)
    }

    /// What an answer of the system comes to: its loopback addresses, or else the usual ones.
    static func checked(
        _ answer: Result<[SocketAddress], ResolutionFailure>,
        of name: String
    ) -> Result<[SocketAddress], ResolutionFailure> {
        guard contains(name) else { return answer }
        switch answer {
        case .failure(let failure) where failure.kind == .overloaded: return answer
        case .failure: return .success(addresses)
        case .success(let found):
            let own = found.filter(\.isLoopback)
            return .success(own.isEmpty ? addresses : own)
        }
    }
}
