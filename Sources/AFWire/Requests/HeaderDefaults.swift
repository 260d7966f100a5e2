/// The fields a session adds to requests that lack them: its configuration's additional headers, then our own.
///
/// Made once per session and validated then; a request pays one comparison per field. Whatever was invalid is kept
/// as a rejection and fails the requests, since a configuration has no way to throw.
package final class HeaderDefaults: Sendable {
    struct Field: Sendable {
        let name: [UInt8]
        /// `Name: value` and CR LF.
        let line: [UInt8]
    }

    let fields: [Field]
    /// All lines at once, for requests without fields of their own.
    let allLines: [UInt8]
    let closesConnection: Bool
    let hostField: [UInt8]?
    package let rejection: RequestRejection?

    /// - Parameters:
    ///   - additionalHeaders: the configuration's fields.
    ///   - userAgent: for requests when the configuration has none; a token, see ``UserAgent``.
    ///
    /// There is no default `Accept-Language`: the bytes of a request shall not depend on the environment of the
    /// process. The AFNetworking layer adds it, as the original does.
    package init(additionalHeaders: [String: String], userAgent: String) {
        var builder = Builder()
        for (name, value) in additionalHeaders.sorted(by: { $0.key < $1.key }) { builder.add(name, value) }
        builder.addUnlessPresent("User-Agent", userAgent)
        builder.addUnlessPresent("Accept", "*/*")
        fields = builder.fields
        allLines = builder.fields.flatMap(\.line)
        closesConnection = builder.closesConnection
        hostField = builder.hostField
        rejection = builder.rejection
    }

    private struct Builder {
        var fields: [Field] = []
        var closesConnection = false
        var hostField: [UInt8]?
        var rejection: RequestRejection?

        mutating func add(_ name: String, _ value: String) {
            do throws(RequestRejection) {
                try name.withUTF8Bytes { name throws(RequestRejection) in
                    try value.withUTF8Bytes { value throws(RequestRejection) in try add(name, value) }
                }
            } catch {
                if rejection == nil { rejection = error }
            }
        }

        mutating func addUnlessPresent(_ name: String, _ value: String) {
            let isPresent = name.withUTF8Bytes { name in
                fields.contains { field in field.name.withUnsafeBytes { ByteScanning.equalsIgnoringCase($0, name) } }
            }
            if !isPresent { add(name, value) }
        }

        private mutating func add(
            _ name: UnsafeRawBufferPointer,
            _ rawValue: UnsafeRawBufferPointer
        ) throws(RequestRejection) {
            try RequestSyntax.checkFieldName(name)
            let value = try RequestSyntax.trimmedFieldValue(rawValue, of: name)
            switch ReservedField.of(name) {
            case nil, .expect: fields.append(Field(name: Array(name), line: Self.line(name, value)))
            case .host: hostField = Array(try RequestSyntax.checkedHostValue(value))
            case .connection: closesConnection = closesConnection || ReservedField.listsClose(value)
            case .ignored: break
            case .refused: throw RequestRejection(.fieldName, .notAllowed, excerpt: EscapedText(name))
            }
        }

        private static func line(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> [UInt8] {
            Array(name) + Array(": ".utf8) + Array(value) + Array("\r\n".utf8)
        }
    }
}
