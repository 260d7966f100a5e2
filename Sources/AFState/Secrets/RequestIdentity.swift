import AFBase
package import AFWire

/// For whom a request asks: what it says of the user, in whatever field.
///
/// No list could have all fields by which services tell users apart: `X-Api-Key`, `Cookie`, `Private-Token`, `X-User`,
/// `X-Tenant`. So each field names the user, except those that are known to say nothing of one. A field that is new to
/// the library costs a hit, and never shows a user what is another's.
package enum RequestIdentity: Sendable, Hashable {
    /// The request names no user.
    case unnamed
    /// The digest of the fields that name the user.
    case named(ShortDigest)

    /// - Parameter fields: Those that are sent.
    package init(of fields: HTTPHeaders) {
        var reader = Reader()
        fields.forEach { name, value in reader.read(name, value) }
        self = reader.identity
    }

    /// The fields that name the user, in the order in which they are sent. Nil if there are none.
    package static func bytes(of fields: HTTPHeaders) -> [UInt8]? {
        var reader = Reader()
        fields.forEach { name, value in reader.read(name, value) }
        return reader.bytes
    }

    /// Reads one field after the other.
    struct Reader {
        private let hasAdded = SecretNames.hasAdded
        private var writer = FieldWriter()

        mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            if saysNothing(name), !(hasAdded && SecretNames.isAdded(String(decoding: name, as: UTF8.self))) { return }
            writer.add(name.map(ASCII.folded))
            writer.add(value)
        }

        var bytes: [UInt8]? { writer.bytes.isEmpty ? nil : writer.bytes }
        var identity: RequestIdentity { bytes.map { .named(ShortDigest(of: $0)) } ?? .unnamed }
    }

    /// Whether a field of this name says nothing of the user: it is about the message, the connection or the kind of
    /// answer, or has another value in each request.
    private static func saysNothing(_ name: UnsafeRawBufferPointer) -> Bool {
        func isCalled(_ other: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, other) }
        func begins(_ prefix: StaticString) -> Bool {
            name.count >= prefix.utf8CodeUnitCount
                && ByteScanning.equalsIgnoringCase(
                    UnsafeRawBufferPointer(rebasing: name[..<prefix.utf8CodeUnitCount]),
                    prefix
                )
        }
        guard let first = name.first.map(ASCII.folded) else { return false }
        // Most names begin with another letter than all of a line.
        return switch first {
        case UInt8(ascii: "a"): begins("accept")
        case UInt8(ascii: "b"): isCalled("baggage")
        case UInt8(ascii: "c"): isCalled("cache-control") || isCalled("connection") || begins("content-")
        case UInt8(ascii: "d"): isCalled("date") || isCalled("dnt")
        case UInt8(ascii: "e"): isCalled("expect")
        case UInt8(ascii: "h"): isCalled("host")
        case UInt8(ascii: "i"): begins("if-") || isCalled("idempotency-key")
        case UInt8(ascii: "k"): isCalled("keep-alive")
        case UInt8(ascii: "l"): isCalled("last-event-id")
        case UInt8(ascii: "o"): isCalled("origin")
        case UInt8(ascii: "p"): isCalled("pragma") || isCalled("priority") || isCalled("prefer")
        case UInt8(ascii: "r"): isCalled("range") || isCalled("referer")
        case UInt8(ascii: "s"): begins("sec-fetch-") || begins("sec-ch-")
        case UInt8(ascii: "t"):
            isCalled("te") || isCalled("trailer") || isCalled("transfer-encoding") || isCalled("traceparent")
                || isCalled("tracestate")
        case UInt8(ascii: "u"): isCalled("user-agent") || begins("upgrade")
        case UInt8(ascii: "x"): isCalled("x-request-id") || isCalled("x-correlation-id") || begins("x-b3-")
        default: false
        }
    }
}
