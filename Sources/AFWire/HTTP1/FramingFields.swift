/// What the fields of one head say about the body's end and the connection, noted
/// while the lines are parsed so that no field is looked up afterwards.
package struct FramingFields: Sendable {
    package private(set) var contentLength: UInt64?
    package private(set) var isChunked = false
    private(set) var saysClose = false
    private(set) var saysKeepAlive = false
    package private(set) var expectsContinue = false
    package private(set) var hostCount = 0
    private(set) var keepAliveTimeout: Int?
    private(set) var hasContentCoding = false
    private(set) var setsCookies = false

    /// The length was stated more than once. The values agree, but a peer that
    /// repeats itself here may have been talked into it: no reuse.
    package private(set) var repeatsLength = false

    /// `chunked` was stated more than once. No sender may apply it twice (RFC 9112 §6.1), and those that say so have
    /// not; a parser in front of us may have undone it twice: no reuse.
    package private(set) var repeatsChunked = false

    /// Takes note of one field. `name` is a token of `nameCount` bytes.
    @inline(__always)
    mutating func note(
        name: UnsafeRawPointer,
        nameCount: Int,
        value: UnsafeRawBufferPointer
    ) throws(HTTP1Error) {
        switch nameCount {
        case 4 where ByteScanning.token(at: name, is: "host"):
            hostCount += 1
        case 6 where ByteScanning.token(at: name, is: "expect"):
            noteExpectation(ByteScanning.trimmingOWS(value))
        case 10 where ByteScanning.token(at: name, is: "connection"):
            noteConnection(value)
        case 10 where ByteScanning.token(at: name, is: "keep-alive"):
            noteKeepAlive(value)
        case 10 where ByteScanning.token(at: name, is: "set-cookie"):
            setsCookies = true
        case 14 where ByteScanning.token(at: name, is: "content-length"):
            try noteLength(value)
        case 16 where ByteScanning.token(at: name, is: "content-encoding"):
            hasContentCoding = true
        case 17 where ByteScanning.token(at: name, is: "transfer-encoding"):
            try noteTransferCoding(value)
        default:
            return
        }
    }

    /// Whether the field with this name, a token of `nameCount` bytes, is `Content-Length`.
    static func isLength(_ name: UnsafeRawPointer, nameCount: Int) -> Bool {
        nameCount == 14 && ByteScanning.token(at: name, is: "content-length")
    }

    /// Whether the field with this name, a token of `nameCount` bytes, says where the body ends.
    static func settlesEndOfBody(_ name: UnsafeRawPointer, nameCount: Int) -> Bool {
        isLength(name, nameCount: nameCount) || nameCount == 17 && ByteScanning.token(at: name, is: "transfer-encoding")
    }

    /// Whether the field with this name, a token of `nameCount` bytes, says where the body ends, or what becomes of the
    /// connection (RFC 9110 §7.6.1).
    static func concernsConnection(_ name: UnsafeRawPointer, nameCount: Int) -> Bool {
        switch nameCount {
        case 2: ByteScanning.token(at: name, is: "te")
        case 7: ByteScanning.token(at: name, is: "upgrade") || ByteScanning.token(at: name, is: "trailer")
        case 10: ByteScanning.token(at: name, is: "connection") || ByteScanning.token(at: name, is: "keep-alive")
        case 16: ByteScanning.token(at: name, is: "proxy-connection")
        default: settlesEndOfBody(name, nameCount: nameCount)
        }
    }

    /// Takes note that a field had to be mended: it goes on in a second line, or white space stands before its colon.
    /// The values of `Connection` and `Keep-Alive` may be incomplete then, and do not count: the connection ends with
    /// this message.
    mutating func noteMending() {
        saysClose = true
    }

    /// RFC 9112 §6.3: a list of equal numbers may be read as one of them; anything
    /// else that is not one number leaves the end of the body in doubt.
    private mutating func noteLength(_ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        if contentLength == nil, let number = ByteScanning.decimal(ByteScanning.trimmingOWS(value)) {
            contentLength = UInt64(number)
            return
        }
        try ByteScanning.forEachListElement(of: value) { element throws(HTTP1Error) in
            guard let number = ByteScanning.decimal(element) else {
                throw HTTP1Error(.framing, reason: "Content-Length is not a number we can hold", peer: value)
            }
            let length = UInt64(number)
            if let known = contentLength {
                guard known == length else {
                    throw HTTP1Error(.framing, reason: "Content-Length differs from an earlier one", peer: value)
                }
                repeatsLength = true
            }
            contentLength = length
        }
    }

    /// We ask for no transfer coding, so `chunked` is all there may be; said again, it is still applied once. To
    /// read anything else as "until close" would let a proxy in front of us disagree.
    private mutating func noteTransferCoding(_ value: UnsafeRawBufferPointer) throws(HTTP1Error) {
        try ByteScanning.forEachListElement(of: value) { coding throws(HTTP1Error) in
            guard ByteScanning.equalsIgnoringCase(coding, lowercase: "chunked") else {
                throw HTTP1Error(.framing, reason: "Transfer-Encoding is not simply chunked", peer: value)
            }
            if isChunked { repeatsChunked = true }
            isChunked = true
        }
    }

    /// Only these two options concern us. The names of fields listed here were for
    /// the previous hop and change nothing about framing.
    private mutating func noteConnection(_ value: UnsafeRawBufferPointer) {
        ByteScanning.forEachListElement(of: value) { option in
            if ByteScanning.equalsIgnoringCase(option, lowercase: "close") { saysClose = true }
            if ByteScanning.equalsIgnoringCase(option, lowercase: "keep-alive") { saysKeepAlive = true }
        }
    }

    private mutating func noteKeepAlive(_ value: UnsafeRawBufferPointer) {
        ByteScanning.forEachListElement(of: value) { parameter in
            guard let equals = ByteScanning.firstIndex(of: 0x3D, in: parameter) else { return }
            let name = UnsafeRawBufferPointer(rebasing: parameter[..<equals])
            let number = UnsafeRawBufferPointer(rebasing: parameter[(equals + 1)...])
            guard ByteScanning.equalsIgnoringCase(ByteScanning.trimmingOWS(name), lowercase: "timeout") else { return }
            guard let seconds = ByteScanning.decimal(ByteScanning.trimmingOWS(number)) else { return }
            // Said twice, the shorter one is the safe one.
            keepAliveTimeout = min(keepAliveTimeout ?? .max, Int(seconds))
        }
    }

    private mutating func noteExpectation(_ value: UnsafeRawBufferPointer) {
        if ByteScanning.equalsIgnoringCase(value, lowercase: "100-continue") { expectsContinue = true }
    }

    /// Whether the peer will keep the connection after this message (RFC 9112 §9.3).
    package func allowPersistence(in version: HTTPVersion) -> Bool {
        switch version {
        case .http11: !saysClose
        case .http10: saysKeepAlive && !saysClose
        }
    }
}
