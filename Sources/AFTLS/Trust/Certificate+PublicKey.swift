internal import CAFOpenSSL

extension Certificate {
    /// The kinds of public keys that other systems have names for.
    package enum KeyAlgorithm: Sendable {
        case rsa
        case ellipticCurve
        case other
    }

    /// The algorithm of its key.
    package var keyAlgorithm: KeyAlgorithm {
        guard let key = X509_get0_pubkey(handle) else {
            ERR_clear_error()
            return .other
        }
        return switch EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss: .rsa
        case NID_X9_62_id_ecPublicKey: .ellipticCurve
        default: .other
        }
    }

    /// The size of its key; 0 if that is unknown.
    package var keyBits: Int { Int(caf_key_bits(handle)) }

    /// Its key without the algorithm: for RSA a structure of PKCS#1, for elliptic curves a
    /// point of X9.62.
    package var rawPublicKeyBytes: [UInt8] {
        guard let bits = X509_get0_pubkey_bitstr(handle), let bytes = ASN1_STRING_get0_data(bits) else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, ASN1_STRING_length(bits)))))
    }
}
