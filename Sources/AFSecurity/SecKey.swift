// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFTLS
public import Foundation

/// A public key, under its name in the Security framework.
///
/// Two keys are equal when their SubjectPublicKeyInfo structures are.
public struct SecKey: Hashable, Sendable {
    private let publicKeyBytes: [UInt8]
    fileprivate let external: [UInt8]
    fileprivate let algorithm: Certificate.KeyAlgorithm
    fileprivate let bits: Int

    init(of certificate: Certificate) {
        publicKeyBytes = certificate.publicKeyBytes
        external = certificate.rawPublicKeyBytes
        algorithm = certificate.keyAlgorithm
        bits = certificate.keyBits
    }

    /// Equal for equal keys of the same algorithm.
    public static func == (left: SecKey, right: SecKey) -> Bool {
        left.publicKeyBytes == right.publicKeyBytes
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(publicKeyBytes)
    }
}

/// The bytes of a key without its algorithm: PKCS#1 for RSA, the point as in X9.63 for elliptic curves.
///
/// The SubjectPublicKeyInfo is a header for algorithm and size, followed by these bytes;
/// ``AFTLS/Certificate/publicKeyBytes`` has it whole. If a key has no such bytes, `error` says so.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard !key.external.isEmpty else {
        let text = "the key has no bytes of its own"
        error?.pointee = .passRetained(
            NSError(
                domain: NSOSStatusErrorDomain,
                code: Int(errSecParam),
                userInfo: [NSLocalizedDescriptionKey: text]
            )
        )
        return nil
    }
    return CFData(key.external)
}

/// The attributes of a key: ``kSecAttrKeyType``, ``kSecAttrKeySizeInBits`` and ``kSecAttrKeyClass``.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    var attributes: CFDictionary = [
        kSecAttrKeyClass: kSecAttrKeyClassPublic,
        kSecAttrKeySizeInBits: key.bits,
    ]
    switch key.algorithm {
    case .rsa: attributes[kSecAttrKeyType] = kSecAttrKeyTypeRSA
    case .ellipticCurve: attributes[kSecAttrKeyType] = kSecAttrKeyTypeECSECPrimeRandom
    case .other: break
    }
    return attributes
}

/// How many bytes a number of the key has: an element of the curve's field, or RSA's modulus.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    (key.bits + 7) / 8
}

/// The kind of a key: RSA, or elliptic curves.
public let kSecAttrKeyType: CFString = "type"
/// RSA.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// Elliptic curves over prime fields.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The same under its older name.
public let kSecAttrKeyTypeEC: CFString = "73"
/// The size of a key.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Whether a key is public.
public let kSecAttrKeyClass: CFString = "kcls"
/// The key is public.
public let kSecAttrKeyClassPublic: CFString = "0"
