import Glibc

extension CertificateTemplate.Digest {
    var opensslName: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        case .sha1: "SHA1"
        case .md5: "MD5"
        }
    }

    /// The AlgorithmIdentifier of the signature; nil if the key cannot sign with this digest.
    func algorithm(for key: CertificateKey) -> [UInt8]? {
        switch key.kind {
        case .rsa:
            let number = [.md5: 4, .sha1: 5, .sha256: 11, .sha384: 12, .sha512: 13][self] ?? 11
            return DER.objectIdentifier("1.2.840.113549.1.1.\(number)").map { DER.sequence($0, DER.null) }
        case .p256, .p384, .p192, .explicitP256:
            let rest: [Self: String] = [.sha1: "1", .sha256: "3.2", .sha384: "3.3", .sha512: "3.4"]
            return rest[self].flatMap { DER.objectIdentifier("1.2.840.10045.4.\($0)") }.map { DER.sequence($0) }
        case .ed25519:
            return DER.objectIdentifier("1.3.101.112").map { DER.sequence($0) }
        }
    }
}

extension CertificateTemplate.AlternativeName {
    func encoded() throws(CertificateMakingError) -> [UInt8] {
        switch self {
        case .dns(let name): DER.context(2, constructed: false, content: Array(name.utf8))
        case .ip(let bytes): DER.context(7, constructed: false, content: bytes)
        case .email(let address): DER.context(1, constructed: false, content: Array(address.utf8))
        case .uri(let uri): DER.context(6, constructed: false, content: Array(uri.utf8))
        case .other(let identifier, let value):
            DER.context(0, content: try CertificateTemplate.identifier(identifier) + DER.context(0, content: value))
        case .raw(let tag, let bytes): DER.element(tag, content: bytes)
        }
    }
}

extension CertificateTemplate {
    static func identifier(_ text: String) throws(CertificateMakingError) -> [UInt8] {
        if let bytes = DER.objectIdentifier(text) { return bytes }
        throw CertificateMakingError("Making a certificate", because: "\(text) is no object identifier")
    }

    /// The subject in DER.
    func encodedSubject() throws(CertificateMakingError) -> [UInt8] {
        let parts = try subject.map { attribute throws(CertificateMakingError) in
            let value = DER.element(attribute.tag, content: attribute.value)
            return DER.set(DER.sequence(try Self.identifier(attribute.identifier), value))
        }
        return DER.sequence(parts)
    }

    func encodedSerialNumber() -> [UInt8] {
        if let serialNumber { return DER.element(0x02, content: serialNumber) }
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        // Positive, and without a leading zero byte.
        bytes[0] = bytes[0] & 0x3F | 0x40
        return DER.element(0x02, content: bytes)
    }

    /// All extensions in their usual order; nil if there are none.
    func encodedExtensions(own: [UInt8], issuer: [UInt8]?) throws(CertificateMakingError) -> [UInt8]? {
        var all: [Extension] = []
        if let basicConstraints {
            all.append(Extension("2.5.29.19", isCritical: basicConstraints.isCritical, value: basicConstraints.encoded))
        }
        if let keyUsage {
            all.append(Extension("2.5.29.15", isCritical: true, value: DER.namedBits(keyUsage.rawValue)))
        }
        if let extendedKeyUsage {
            let purposes = try extendedKeyUsage.map { purpose throws(CertificateMakingError) in
                try Self.identifier(purpose.identifier)
            }
            all.append(Extension("2.5.29.37", value: DER.sequence(purposes)))
        }
        if hasKeyIdentifiers {
            all.append(Extension("2.5.29.14", value: DER.octetString(own)))
            if let issuer {
                all.append(
                    Extension("2.5.29.35", value: DER.sequence(DER.context(0, constructed: false, content: issuer)))
                )
            }
        }
        if !alternativeNames.isEmpty {
            // Critical if the subject is empty (RFC 5280 section 4.2.1.6).
            let value = DER.sequence(try Self.encoded(alternativeNames))
            all.append(Extension("2.5.29.17", isCritical: subject.isEmpty, value: value))
        }
        if let nameConstraints {
            all.append(
                Extension("2.5.29.30", isCritical: nameConstraints.isCritical, value: try nameConstraints.encoded())
            )
        }
        all += otherExtensions
        return all.isEmpty ? nil : DER.sequence(try Self.encoded(all))
    }

    fileprivate static func encoded(_ names: [AlternativeName]) throws(CertificateMakingError) -> [[UInt8]] {
        try names.map { name throws(CertificateMakingError) in try name.encoded() }
    }

    private static func encoded(_ extensions: [Extension]) throws(CertificateMakingError) -> [[UInt8]] {
        try extensions.map { one throws(CertificateMakingError) in
            // `false` is the default, which DER leaves out.
            let critical = one.isCritical ? DER.boolean(true) : []
            return DER.sequence(try identifier(one.identifier), critical, DER.octetString(one.value))
        }
    }
}

extension CertificateTemplate.BasicConstraints {
    fileprivate var encoded: [UInt8] {
        let length = pathLength.map { DER.integer(UInt(max($0, 0))) } ?? []
        return DER.sequence(isAuthority ? DER.boolean(true) : [], length)
    }
}

extension CertificateTemplate.NameConstraints {
    fileprivate func encoded() throws(CertificateMakingError) -> [UInt8] {
        var lists: [UInt8] = []
        for (number, names) in [(UInt8(0), permitted), (1, excluded)] where !names.isEmpty {
            let subtrees = try CertificateTemplate.encoded(names).map { DER.sequence($0) }
            lists += DER.context(number, content: Array(subtrees.joined()))
        }
        return DER.sequence(lists)
    }
}
