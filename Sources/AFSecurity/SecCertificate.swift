// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import AFTLS

/// A certificate, under its name in the Security framework.
public typealias SecCertificate = Certificate

/// Reads a certificate in DER; nil if the bytes are none.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? Certificate(der: data)
}

/// The bytes of a certificate, in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    CFData(certificate.derBytes)
}

/// A name to show to people.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.summary
}

/// The public key of a certificate.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    SecKey(of: certificate)
}
