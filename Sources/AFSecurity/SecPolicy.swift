// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFTLS

/// What an evaluation checks about a chain, under its name in the Security framework.
public struct SecPolicy: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case policy(TrustPolicy)
        /// Checks the chain and the dates, and that no certificate was revoked, if an answer is required.
        case revocation(isRequired: Bool)
        /// Fails: no certificate can be for this name.
        case impossible(String)
    }

    let content: Content
}

/// Checks the chain, the dates, that the certificate may serve TLS, and the name if there is one.
///
/// Only servers can be checked in this way: with false it checks chain and dates.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    guard server else { return SecPolicyCreateBasicX509() }
    guard let hostname else { return SecPolicy(content: .policy(.tlsServer(nil))) }
    guard let name = PeerName(hostname) else { return SecPolicy(content: .impossible(hostname)) }
    return SecPolicy(content: .policy(.tlsServer(name)))
}

/// Checks the chain and the dates only.
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(content: .policy(.basicX509))
}

// MARK: - Revocation

/// Checks the chain and the dates, and whether a certificate was revoked as far as that is known, which it never is.
///
/// The library downloads no lists, uses no OCSP, and does not look at stapled responses. So the flags for methods and
/// for the network change nothing, and it accepts a chain whose certificates may have been revoked, as Apple's policy
/// does when no answer comes. With ``kSecRevocationRequirePositiveResponse`` it refuses every chain, with
/// ``errSecIncompleteCertRevocationCheck``, because no check was made.
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
/// Refuse a chain unless it is certain that none of its certificates was revoked: all chains.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Use only what is known already. Changes nothing.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// Either method.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod
