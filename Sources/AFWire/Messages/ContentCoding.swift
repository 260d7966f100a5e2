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
