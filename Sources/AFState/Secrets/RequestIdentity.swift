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
        fields.forEach { name, value in reader.read(name, value: value) }
        self = reader.identity
    }

    /// Reads one field after the other.
    struct Reader {
        private let hasAdded = SecretNames.hasAdded
        /// The fields that name the user, one behind the other.
        private var writer = FieldWriter()
        private var fields: [Field] = []

        /// A field as it was written.
        private struct Field {
            let place: Range<Int>
            /// In lower case.
            let name: Range<Int>
        }

        mutating func read(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
            if saysNothing(name), !(hasAdded && SecretNames.isAdded(name)) { return }
            let start = writer.bytes.count
            writer.add(name.lazy.map(ASCII.folded))
            let nameEnd = writer.bytes.count
            writer.add(value)
            fields.append(Field(place: start..<writer.bytes.count, name: nameEnd - name.count..<nameEnd))
        }

        var identity: RequestIdentity { identity(by: fields) }

        var identities: RequestIdentities {
            guard !fields.isEmpty else { return .unnamed }
            let secrets = fields.filter { SecretNames.containsField(name(of: $0)) }
            let others = fields.filter { !isCookie($0) }
            let identity = identity
            return RequestIdentities(
                byAnyField: identity,
                bySecrets: secrets.count == fields.count ? identity : self.identity(by: secrets),
                besideCookies: others.count == fields.count
                    ? nil : (self.identity(by: others), self.identity(by: secrets.filter { !isCookie($0) }))
            )
        }

        private func name(of field: Field) -> ArraySlice<UInt8> { writer.bytes[field.name] }
        private func isCookie(_ field: Field) -> Bool { name(of: field).elementsEqual("cookie".utf8) }

        /// The same for the same fields, whatever their order. Lines of one name keep theirs.
        private func identity(by fields: [Field]) -> RequestIdentity {
            switch fields.count {
            case 0: return .unnamed
            case 1: return .named(ShortDigest(of: writer.bytes[fields[0].place]))
            default:
                let sorted = fields.sorted { one, other in
                    name(of: one).elementsEqual(name(of: other))
                        ? one.place.lowerBound < other.place.lowerBound
                        : name(of: one).lexicographicallyPrecedes(name(of: other))
                }
                return .named(ShortDigest(of: sorted.reduce(into: []) { $0 += writer.bytes[$1.place] }))
            }
        }
    }

    /// Whether a field of this name says nothing of the user: it is about the message, the connection or the kind of
    /// answer, or has another value in each request.
    private static func saysNothing(_ name: UnsafeRawBufferPointer) -> Bool {
        func isCalled(_ other: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, lowercase: other) }
        func begins(_ prefix: StaticString) -> Bool {
            name.count >= prefix.utf8CodeUnitCount
                && ByteScanning.equalsIgnoringCase(
                    UnsafeRawBufferPointer(rebasing: name[..<prefix.utf8CodeUnitCount]),
                    lowercase: prefix
                )
        }
        guard let first = name.first.map(ASCII.folded) else { return false }
        // Most names begin with another letter than all of a line.
        return switch first {
        case UInt8(ascii: "a"): isCalled("accept") || begins("accept-")
        case UInt8(ascii: "b"): isCalled("baggage") || isCalled("b3")
        case UInt8(ascii: "c"): isCalled("cache-control") || isCalled("connection") || begins("content-")
        case UInt8(ascii: "d"): isCalled("date") || isCalled("dnt")
        case UInt8(ascii: "e"): isCalled("expect") || isCalled("elastic-apm-traceparent")
        case UInt8(ascii: "h"): isCalled("host")
        case UInt8(ascii: "i"): begins("if-") || isCalled("idempotency-key")
        case UInt8(ascii: "k"): isCalled("keep-alive")
        case UInt8(ascii: "l"): isCalled("last-event-id")
        case UInt8(ascii: "o"): isCalled("origin")
        case UInt8(ascii: "p"): isCalled("pragma") || isCalled("priority") || isCalled("prefer")
        case UInt8(ascii: "r"): isCalled("range") || isCalled("referer") || isCalled("request-id")
        case UInt8(ascii: "s"): begins("sec-fetch-") || begins("sec-ch-") || isCalled("sentry-trace")
        case UInt8(ascii: "t"):
            isCalled("te") || isCalled("trailer") || isCalled("transfer-encoding") || isCalled("traceparent")
                || isCalled("tracestate")
        case UInt8(ascii: "u"):
            isCalled("user-agent") || isCalled("upgrade") || isCalled("upgrade-insecure-requests")
                || isCalled("uber-trace-id")
        case UInt8(ascii: "x"):
            isCalled("x-request-id") || isCalled("x-correlation-id") || begins("x-b3-") || begins("x-datadog-")
                || isCalled("x-amzn-trace-id") || isCalled("x-cloud-trace-context") || isCalled("x-requested-with")
        default: false
        }
    }
}

/// For whom a request asks, by each of the two ways in which a program tells its users apart.
package struct RequestIdentities: Sendable {
    /// A program that acts for many: any field may name one.
    package let byAnyField: RequestIdentity
    /// A program that acts for one, who may have several accounts: only secrets do (``SecretNames``).
    package let bySecrets: RequestIdentity
    /// Both without the cookies; nil if there are none.
    let besideCookies: (byAnyField: RequestIdentity, bySecrets: RequestIdentity)?

    static let unnamed = RequestIdentities(byAnyField: .unnamed, bySecrets: .unnamed, besideCookies: nil)
}
