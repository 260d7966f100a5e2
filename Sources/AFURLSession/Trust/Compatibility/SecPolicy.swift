// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFTLS

/// What a chain is checked for, under its name in the Security framework.
public struct SecPolicy: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case policy(TrustPolicy)
        /// For a name that no certificate can be for.
        case impossible(String)
    }

    let content: Content
}

/// The chain, the dates, that it may serve TLS, and the name if one is given.
///
/// Only servers can be checked like that: with false it checks chain and dates.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    guard server else { return SecPolicyCreateBasicX509() }
    guard let hostname else { return SecPolicy(content: .policy(.tlsServer(nil))) }
    guard let name = PeerName(hostname) else { return SecPolicy(content: .impossible(hostname)) }
    return SecPolicy(content: .policy(.tlsServer(name)))
}

/// The chain and the dates only.
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(content: .policy(.basicX509))
}
