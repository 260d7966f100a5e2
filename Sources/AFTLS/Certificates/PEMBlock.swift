internal import CAFOpenSSL
internal import Glibc

/// One block of a PEM text.
struct PEMBlock {
    /// Counted from 0.
    let index: Int
    /// From its `-----BEGIN ` to the next one, or the end.
    let bytes: ArraySlice<UInt8>
    /// Whether it begins at the start of a line, without which OpenSSL would pass it by.
    let isOnLine: Bool

    private static let opening = Array("-----BEGIN ".utf8)

    /// Splits before each `-----BEGIN `. One pass, and a broken block does not take the next one along.
    static func split(_ text: [UInt8]) -> [PEMBlock] {
        let starts = text.withUnsafeBufferPointer(starts(in:))
        return starts.indices.map { index in
            let start = starts[index]
            let end = index + 1 < starts.count ? starts[index + 1] : text.count
            let isOnLine = start == 0 || text[start - 1] == 0x0A || text[start - 1] == 0x0D
            return PEMBlock(index: index, bytes: text[start..<end], isOnLine: isOnLine)
        }
    }

    private static func starts(in text: UnsafeBufferPointer<UInt8>) -> [Int] {
        guard let base = text.baseAddress else { return [] }
        var starts: [Int] = []
        var at = 0
        while let dash = memchr(base + at, Int32(opening[0]), text.count - at) {
            at = UnsafeRawPointer(base).distance(to: dash)
            guard at + opening.count <= text.count else { break }
            let isStart = memcmp(base + at, opening, opening.count) == 0
            if isStart { starts.append(at) }
            at += isStart ? opening.count : 1
        }
        return starts
    }

    /// What is in it.
    struct Content {
        let label: String
        let isEncrypted: Bool
        let der: [UInt8]
    }

    /// Nil if it is cut short or not base64.
    func content() -> Content? {
        if let der = plainCertificate() { return Content(label: "CERTIFICATE", isEncrypted: false, der: der) }
        var label: UnsafeMutablePointer<CChar>?
        var der: UnsafeMutablePointer<UInt8>?
        var encrypted: Int32 = 0
        var count = 0
        let isRead = bytes.withUnsafeBufferPointer {
            caf_pem_block($0.baseAddress, $0.count, &label, &encrypted, &der, &count) == 1
        }
        guard isRead, let label, let der else { return nil }
        defer {
            caf_free(label)
            caf_free(der)
        }
        let name = UnsafeRawBufferPointer(start: label, count: Int(strlen(label)))
        return Content(
            label: ByteText.escaped(name, limit: 64),
            isEncrypted: encrypted != 0,
            der: Array(UnsafeBufferPointer(start: der, count: count))
        )
    }

    /// Nearly all blocks are plain ones, and OpenSSL takes ten times as long.
    private func plainCertificate() -> [UInt8]? {
        let der = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
            guard let der = buffer.baseAddress else { return }
            count = bytes.withUnsafeBufferPointer { caf_pem_plain($0.baseAddress, $0.count, der) }
        }
        return der.isEmpty ? nil : der
    }

    /// The DER of the certificate in it; anything else is refused.
    func certificateBytes() throws(CertificateError) -> [UInt8] {
        if isPrivateKey {
            throw CertificateError(
                .privateKey,
                message: "block \(index + 1) of the PEM is a private key; keep it apart and give certificates only",
                block: index
            )
        }
        guard isOnLine, let content = content() else {
            throw CertificateError(
                .brokenBlock,
                message: "block \(index + 1) of the PEM is broken: "
                    + (isOnLine ? "it is cut short or not base64" : "its first line does not begin with -----BEGIN"),
                block: index
            )
        }
        guard content.label == "CERTIFICATE" || content.label == "X509 CERTIFICATE", !content.isEncrypted else {
            throw CertificateError(
                .otherBlock,
                message: "block \(index + 1) of the PEM is of the kind \(content.label), not a plain CERTIFICATE",
                block: index
            )
        }
        return content.der
    }

    /// Judged by its first line, because the rest of a private key may well be broken.
    var isPrivateKey: Bool { firstLine.contains("PRIVATE KEY") }

    /// `openssl ecparam` writes them before a key, which repeats them.
    var isParameters: Bool { firstLine.contains(" PARAMETERS-----") }

    private var firstLine: Substring {
        Substring(String(decoding: bytes.prefix(80).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self))
    }
}
