/// How a server made the content of a body shorter (RFC 9110 §8.4.1).
package enum ContentCoding: String, Sendable {
    case gzip
    case deflate
    #if Brotli
        case brotli = "br"
    #endif
    #if Zstd
        case zstd
    #endif

    /// The codings that we can undo, as `Accept-Encoding` names them. The order says nothing; the codings that give
    /// shorter bodies come last, as in browsers.
    package static let accepted: String = {
        var names = "gzip, deflate"
        #if Brotli
            names += ", br"
        #endif
        #if Zstd
            names += ", zstd"
        #endif
        return names
    }()

    /// Nil for a coding that we cannot undo.
    package init?(_ name: UnsafeRawBufferPointer) {
        // RFC 9110 §8.4.1.3: the old name means the same.
        if ByteScanning.equalsIgnoringCase(name, lowercase: "gzip")
            || ByteScanning.equalsIgnoringCase(name, lowercase: "x-gzip")
        {
            self = .gzip
            return
        }
        if ByteScanning.equalsIgnoringCase(name, lowercase: "deflate") {
            self = .deflate
            return
        }
        #if Brotli
            if ByteScanning.equalsIgnoringCase(name, lowercase: "br") {
                self = .brotli
                return
            }
        #endif
        #if Zstd
            if ByteScanning.equalsIgnoringCase(name, lowercase: "zstd") {
                self = .zstd
                return
            }
        #endif
        return nil
    }
}

extension ContentCoding {
    /// Whether a server takes content with this coding, as its `Accept-Encoding` says (RFC 9110 §12.5.3). Nil without the
    /// field.
    package func isAccepted(by headers: HTTPHeaders) -> Bool? {
        var (isNamed, isElse, hasField): (Bool?, Bool?, Bool) = (nil, nil, false)
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "accept-encoding") else { return }
            hasField = true
            ByteScanning.forEachListElement(of: value) { element in
                var scanner = FieldScanner(element)
                guard let name = scanner.token() else { return }
                let accepts = !ContentCoding.hasNoWeight(&scanner)
                if ContentCoding(name) == self { isNamed = accepts }
                if name.elementsEqual("*".utf8) { isElse = accepts }
            }
        }
        return hasField ? isNamed ?? isElse ?? false : nil
    }

    /// Whether a member of a list has the weight 0 (§12.4.2).
    private static func hasNoWeight(_ scanner: inout FieldScanner) -> Bool {
        scanner.skipBlanks()
        guard scanner.take(UInt8(ascii: ";")) else { return false }
        scanner.skipBlanks()
        guard scanner.loweredToken() == "q", scanner.take(UInt8(ascii: "=")), let weight = scanner.token() else {
            return false
        }
        return weight.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }
}
