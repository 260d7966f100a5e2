// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFTLS

/// What a chain is checked for, under its name in the Security framework.
public struct SecPolicy: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case policy(TrustPolicy)
        /// The chain and the dates, and that no certificate was revoked, if that must be known.
        case revocation(isRequired: Bool)
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

// MARK: - Revocation

/// The chain and the dates, and whether a certificate was revoked: as far as that is known, which it never is.
///
/// Nothing here asks for lists or for OCSP, or looks at what a server staples. So the flags for methods and for the
/// network change nothing, and a chain whose certificates may have been revoked is accepted, as Apple's policy accepts
/// it where no answer comes. With ``kSecRevocationRequirePositiveResponse`` every chain is refused, with
/// ``errSecIncompleteCertRevocationCheck``: a check that was not made is not passed.
///
/// - Parameter revocationFlags: The sum of `kSecRevocation…`.
/// - Returns: A policy to use together with one of ``SecPolicyCreateSSL(_:_:)``, which checks the name; nil for 0.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    guard revocationFlags != 0 else { return nil }
    return SecPolicy(content: .revocation(isRequired: revocationFlags & kSecRevocationRequirePositiveResponse != 0))
}

/// Ask the authority about each certificate. Not done.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
/// Look for each certificate in the authority's list. Not done.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
/// Prefer the list. Changes nothing.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
/// Refuse a chain unless it is known that none of its certificates was revoked: all chains.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Use only what is known already. Changes nothing.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// Either method.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod
