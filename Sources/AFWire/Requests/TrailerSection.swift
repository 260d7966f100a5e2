/// The fields behind a request's body in chunks (RFC 9110 §6.5): named beforehand, made when the body has ended.
package final class TrailerSection: Sendable {
    /// In the order in which they are announced and sent.
    package let names: [String]
    private let make: @Sendable () -> [String: String]

    /// Refuses names that no trailer section may have.
    ///
    /// - Parameter make: Gives the values. A name that it leaves out is not sent, and one that was not announced is an
    ///   error.
    package init(
        names: [String],
        make: @escaping @Sendable () -> [String: String]
    ) throws(RequestRejection) {
        for (place, name) in names.enumerated() {
            let mayFollow = try name.withUTF8Bytes { bytes throws(RequestRejection) in
                try RequestSyntax.checkFieldName(bytes)
                return TrailerSection.mayHave(bytes)
            }
            guard mayFollow, !names[..<place].contains(where: { HTTPText.isSameName($0, other: name) }) else {
                throw RequestRejection(.trailerName, rule: .notAllowed, excerpt: EscapedText(name))
            }
        }
        self.names = names
        self.make = make
    }

    /// The value of the field `Trailer` (RFC 9110 §6.6.2).
    package var announcement: String { names.joined(separator: ", ") }

    /// Asks for the values, and gives the fields to send.
    package func fields() throws(RequestRejection) -> HTTPHeaders {
        let values = make()
        var fields = HTTPHeaders()
        for name in names {
            guard let value = values.first(where: { HTTPText.isSameName($0.key, other: name) })?.value else { continue }
            try name.withUTF8Bytes { name throws(RequestRejection) in
                try value.withUTF8Bytes { value throws(RequestRejection) in
                    fields.append(name, value: try RequestSyntax.trimmedFieldValue(value, of: name))
                }
            }
        }
        guard fields.count == values.count else { throw RequestRejection(.trailerName, rule: .notAnnounced) }
        guard fields.byteCount <= RequestSyntax.maximumHeadLength else {
            throw RequestRejection(.trailers, rule: .tooLong)
        }
        return fields
    }

    /// Whether a field may stand behind the body: not if it says where messages end or go, who sends them, how to read the
    /// content, or whether to act at all (RFC 9110 §6.5.1).
    private static func mayHave(_ name: UnsafeRawBufferPointer) -> Bool {
        ReservedField.of(name) == nil && !needed.contains { ByteScanning.equalsIgnoringCase(name, lowercase: $0) }
    }

    private static let needed: [StaticString] = [
        "authorization", "cookie", "origin", "referer", "forwarded", "via", "max-forwards", "content-encoding",
        "content-type", "content-range", "cache-control", "pragma", "range", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since", "if-range",
    ]
}
