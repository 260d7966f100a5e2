package import AFLoop
package import AFWire
package import Foundation

/// A request turned into bytes, once, before a connection is chosen. Nothing that happens later changes it, and it
/// is a pure function of the request and the session's header defaults.
package final class WireRequest: Sendable {
    package let url: RequestURL
    /// As the caller wrote it.
    package let location: URL
    /// The session's fields that went into the head.
    package let defaults: HeaderDefaults
    package let endpoint: Endpoint
    /// How long to wait for progress, if the caller said so.
    package let idleInterval: LoopInterval?
    /// Whether it may be sent ahead, if the caller said so.
    package let asksForPipelining: Bool?
    /// Whether sending it twice asks for nothing more than sending it once (RFC 9110 §9.2.2).
    package let isIdempotent: Bool
    /// Whether the response to it has no body whatever its fields say.
    package let isHead: Bool
    /// Nil if the request says nothing about limits.
    package let limits: TransferLimits?
    /// Marks that the session sets and reads. The transport does not look at them.
    package let notes: UInt8
    package let method: String
    /// Request line, fields and the empty line, ready for the socket.
    package let headBytes: [UInt8]
    /// The body held by the request itself; nil also when the task brings its own.
    package let body: Data?
    /// What `Content-Length` says; nil when the head carries none and no body follows.
    package let bodyLength: Int?
    /// The body comes from a stream.
    package let isStreamed: Bool
    /// The body goes out in chunks, since its length is not known.
    package let isChunked: Bool
    /// The `Expect` field, which asks the server something before the body is sent.
    package let expectation: HeadAssembly.Expectation?
    /// The caller asked for `Connection: close`.
    package let closesConnection: Bool

    package init(
        url: RequestURL,
        location: URL,
        defaults: HeaderDefaults,
        idleInterval: LoopInterval?,
        asksForPipelining: Bool?,
        limits: TransferLimits?,
        notes: UInt8,
        method: String,
        isIdempotent: Bool,
        isHead: Bool,
        headBytes: [UInt8],
        body: Data?,
        bodyLength: Int?,
        isStreamed: Bool = false,
        isChunked: Bool = false,
        expectation: HeadAssembly.Expectation? = nil,
        closesConnection: Bool
    ) {
        self.url = url
        self.location = location
        endpoint = url.endpoint
        self.defaults = defaults
        self.idleInterval = idleInterval
        self.asksForPipelining = asksForPipelining
        self.limits = limits
        self.notes = notes
        self.method = method
        self.isIdempotent = isIdempotent
        self.isHead = isHead
        self.headBytes = headBytes
        self.body = body
        self.bodyLength = bodyLength
        self.isStreamed = isStreamed
        self.isChunked = isChunked
        self.expectation = expectation
        self.closesConnection = closesConnection
    }

    /// The same request with another head.
    package init(_ other: WireRequest, headBytes: [UInt8], expectation: HeadAssembly.Expectation?) {
        url = other.url
        location = other.location
        endpoint = other.endpoint
        defaults = other.defaults
        idleInterval = other.idleInterval
        asksForPipelining = other.asksForPipelining
        limits = other.limits
        notes = other.notes
        method = other.method
        isIdempotent = other.isIdempotent
        isHead = other.isHead
        self.headBytes = headBytes
        body = other.body
        bodyLength = other.bodyLength
        isStreamed = other.isStreamed
        isChunked = other.isChunked
        self.expectation = expectation
        closesConnection = other.closesConnection
    }

    /// The same without its expectation, for servers that cannot meet it.
    var withoutExpectation: WireRequest {
        guard let expectation else { return self }
        var head = headBytes
        head.removeSubrange(expectation.range)
        return WireRequest(self, headBytes: head, expectation: nil)
    }

    /// The same with further fields, in the place of those of the same name.
    package func replacing(_ fields: [HeadField]) -> WireRequest {
        guard !fields.isEmpty else { return self }
        var head = headBytes
        var expectation = expectation
        for field in fields {
            while let line = field.line(in: head) {
                head.removeSubrange(line)
                if let known = expectation, line.lowerBound < known.range.lowerBound {
                    expectation = known.moved(by: -line.count)
                }
            }
        }
        // The new lines come last, so that the range of the expectation stays right.
        head.removeLast(2)
        for field in fields { head += field.bytes }
        head += "\r\n".utf8
        return WireRequest(self, headBytes: head, expectation: expectation)
    }
}

/// What one request says about limits of its own.
package final class TransferLimits: Sendable {
    /// How long it may wait for its turn. Nil: as long as the session says.
    package let queueInterval: LoopInterval?
    /// How many bytes of its body are sent in a second. Nil: as many as the network takes.
    package let sendRate: Int?
    /// How the packets of its connection are marked. Nil: as the session says.
    package let marking: PacketMarking?
    package let avoidsCellular: Bool

    package init(queueInterval: LoopInterval?, sendRate: Int?, marking: PacketMarking?, avoidsCellular: Bool) {
        self.queueInterval = queueInterval
        self.sendRate = sendRate
        self.marking = marking
        self.avoidsCellular = avoidsCellular
    }
}

/// What we tell routers, and the queues of this machine, about packets.
package struct PacketMarking: Sendable, Hashable {
    /// The six bits of RFC 2474.
    package let codePoint: UInt8
    /// From 0 to 6: what any process may ask for.
    package let priority: UInt8

    package init(codePoint: UInt8, priority: UInt8) {
        self.codePoint = codePoint
        self.priority = priority
    }
}

/// A field that a session adds to a request whose head is written already.
package struct HeadField: Sendable {
    private let name: [UInt8]
    private let value: [UInt8]

    package static let userAgent = HeadField("User-Agent", [])

    /// - Parameters:
    ///   - name: A token.
    ///   - value: Without control characters.
    package init(_ name: StaticString, _ value: [UInt8]) {
        self.name = Array(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        self.value = value
    }

    package init(_ name: [UInt8], _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// The line, with its line break.
    package var bytes: [UInt8] { name + [UInt8(ascii: ":"), UInt8(ascii: " ")] + value + [0x0D, 0x0A] }

    /// Where a line of this name stands in a head, its line break included.
    package func line(in head: [UInt8]) -> Range<Int>? {
        head.withUnsafeBytes { head in
            var start = 0
            while let feed = ByteScanning.firstIndex(of: 0x0A, in: head, from: start) {
                let end = feed + 1
                let colon = start + name.count
                if colon < end, head[colon] == UInt8(ascii: ":"),
                    isName(UnsafeRawBufferPointer(rebasing: head[start..<colon]))
                {
                    return start..<end
                }
                start = end
            }
            return nil
        }
    }

    private func isName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        name.withUnsafeBytes { ByteScanning.equalsIgnoringCase(bytes, $0) }
    }
}
