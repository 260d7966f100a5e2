internal import CAFOpenSSL

extension Certificate {
    /// Its bytes in DER.
    public var derBytes: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        return Self.taken(i2d_X509(handle, &bytes), bytes: bytes)
    }

    /// Whom it is for, in the notation of RFC 2253, cut to 256 bytes.
    ///
    /// For people only: nothing is decided by this text.
    public var subject: String { Self.text(of: X509_get_subject_name(handle)) }

    /// Who signed it, in the notation of RFC 2253, cut to 256 bytes.
    public var issuer: String { Self.text(of: X509_get_issuer_name(handle)) }

    /// A short name to show: the common name, else the organisation, else the first DNS name.
    public var summary: String {
        let name = X509_get_subject_name(handle)
        return Self.entry(NID_commonName, of: name) ?? Self.entry(NID_organizationName, of: name)
            ?? dnsNames.first ?? subject
    }

    /// Its number within its issuer, in hexadecimal digits.
    public var serialNumber: String {
        guard let number = X509_get0_serialNumber(handle), let bytes = ASN1_STRING_get0_data(number) else { return "" }
        let isNegative = ASN1_STRING_type(number) & V_ASN1_NEG != 0
        let count = Int(max(0, ASN1_STRING_length(number)))
        return (isNegative ? "-" : "") + ByteText.hex(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The DNS names it is for, as they stand in it, with invisible bytes escaped; of the first 10 000 entries.
    public var dnsNames: [String] { names(of: GEN_DNS) { ByteText.escaped($0) } }

    /// The IP addresses it is for, of the first 10 000 entries.
    public var ipAddresses: [String] { names(of: GEN_IPADD) { IPText.text(of: $0) } }

    /// The mail addresses it is for, with invisible bytes escaped; of the first 10 000 entries.
    public var emailAddresses: [String] { names(of: GEN_EMAIL) { ByteText.escaped($0) } }

    /// When it begins to be valid, in seconds since 1970. A malformed date is never reached.
    public var notBeforeSeconds: Int64 { Self.seconds(X509_get0_notBefore(handle)) ?? .max }

    /// When it ends to be valid, in seconds since 1970. A malformed date has long passed.
    public var notAfterSeconds: Int64 { Self.seconds(X509_get0_notAfter(handle)) ?? .min }

    /// Its dates, for people: `2026-11-01 12:00:00 UTC to 2027-11-01 12:00:00 UTC`.
    package var validityText: String { "\(DateText.utc(notBeforeSeconds)) to \(DateText.utc(notAfterSeconds))" }

    /// Its public key with the key's algorithm: the SubjectPublicKeyInfo, in DER.
    public var publicKeyBytes: [UInt8] {
        guard let key = X509_get_X509_PUBKEY(handle) else { return [] }
        var bytes: UnsafeMutablePointer<UInt8>?
        return Self.taken(i2d_X509_PUBKEY(key, &bytes), bytes: bytes)
    }

    /// The SHA-256 of its bytes in DER.
    public var fingerprint: [UInt8] { SHA256Digest.of(derBytes) }

    /// The pin of its public key.
    public var pin: PublicKeyPin { PublicKeyPin(of: self) }

    /// Whether subject and issuer are the same name, as in a root.
    public var isSelfIssued: Bool { X509_NAME_cmp(X509_get_subject_name(handle), X509_get_issuer_name(handle)) == 0 }

    /// Whether it may sign certificates, by its basic constraints and its key usage.
    public var mayIssue: Bool {
        defer { ERR_clear_error() }
        // Other answers are for roots of the time before basic constraints.
        return X509_check_ca(handle) == 1
    }

    private func names<Name>(of type: Int32, make: (UnsafeBufferPointer<UInt8>) -> Name?) -> [Name] {
        var found: [Name] = []
        AlternativeNames.visit(handle) { name in
            if name.type == type, let made = make(UnsafeBufferPointer(start: name.bytes, count: name.count)) {
                found.append(made)
            }
            return true
        }
        return found
    }

    private static func taken(_ count: Int32, bytes: UnsafeMutablePointer<UInt8>?) -> [UInt8] {
        guard let bytes else {
            ERR_clear_error()
            return []
        }
        defer { caf_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, count))))
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var seconds: Int64 = 0
        return caf_time_seconds(time, &seconds) == 1 ? seconds : nil
    }

    private static func text(of name: OpaquePointer?) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
            let count = caf_name_text(name, buffer.baseAddress, Int32(buffer.count))
            guard count >= 0 else { return "(unreadable)" }
            return ByteText.escaped(UnsafeBufferPointer(rebasing: buffer[..<Int(count)]))
        }
    }

    private static func entry(_ nid: Int32, of name: OpaquePointer?) -> String? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = caf_name_entry(name, nid, &bytes)
        let text = taken(count, bytes: bytes)
        return text.isEmpty ? nil : ByteText.escaped(text)
    }
}

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

    /// Its key without the algorithm: for RSA a structure of PKCS#1, for elliptic curves a point of X9.62.
    package var rawPublicKeyBytes: [UInt8] {
        guard let bits = X509_get0_pubkey_bitstr(handle), let bytes = ASN1_STRING_get0_data(bits) else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, ASN1_STRING_length(bits)))))
    }
}
