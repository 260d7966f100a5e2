import AFBase

/// The fields a session adds to requests that lack them: its configuration's additional headers, then our own.
///
/// Made once per session and validated then; a request pays one comparison per field. Whatever was invalid is kept
/// as a rejection and fails the requests, since a configuration has no way to throw.
package final class HeaderDefaults: Sendable {
    struct Field: Sendable {
        let name: [UInt8]
        /// The field itself.
        let line: HTTPHeaders
        /// A request for a part is about the bytes of the content itself, and gets another line.
        let yieldsToRange: Bool
    }

    let fields: [Field]
    /// All of them at once, for requests without fields of their own.
    package let all: HTTPHeaders
    let closesConnection: Bool
    /// The `Host` of requests that name none.
    package let hostField: [UInt8]?
    /// What requests with a body expect of the server.
    let expectation: [UInt8]?
    /// What makes the bodies of requests shorter that do not say so themselves.
    package let bodyCoding: ContentCoding?
    package let rejection: RequestRejection?
    private let recent = Lock<RecentFields?>(nil)

    /// The fields of a request without a body, and all that its head got for them.
    struct RecentFields: Sendable {
        let own: RequestFields
        let all: HTTPHeaders
        let closesConnection: Bool
    }

    /// What the last request got for its fields, if they are the same.
    func recentFields(for fields: RequestFields) -> RecentFields? {
        recent.withLock { recent in recent.flatMap { $0.own == fields ? $0 : nil } }
    }

    func noteRecent(_ fields: RequestFields, all: HTTPHeaders, closesConnection: Bool) {
        recent.withLock { $0 = RecentFields(own: fields, all: all, closesConnection: closesConnection) }
    }

    /// - Parameters:
    ///   - additionalHeaders: the configuration's fields.
    ///   - userAgent: for requests when the configuration has none; products, see ``UserAgent``.
    ///   - contentCodings: what `Accept-Encoding` says when the configuration has none; nil for no such field.
    ///   - bodyCoding: what makes the bodies of requests shorter that do not say so themselves.
    ///
    /// There is no default `Accept-Language`: the bytes of a request shall not depend on the environment of the
    /// process. The AFNetworking layer adds it, as the original does.
    package init(
        additionalHeaders: [String: String],
        userAgent: String,
        contentCodings: String? = nil,
        bodyCoding: ContentCoding? = nil
    ) {
        var builder = Builder()
        for (name, value) in additionalHeaders.sorted(by: { $0.key < $1.key }) { builder.add(name, value: value) }
        builder.addUnlessPresent("User-Agent", value: userAgent)
        builder.addUnlessPresent("Accept", value: "*/*")
        if let contentCodings { builder.addCodings(contentCodings) }
        fields = builder.fields
        all = HeaderDefaults.joined(builder.fields)
        closesConnection = builder.closesConnection
        hostField = builder.hostField
        expectation = builder.expectation
        self.bodyCoding = bodyCoding
        rejection = builder.rejection
    }

    /// The same without some of the fields, and without a `Host`: for requests that go where the session's owner did
    /// not send them.
    package init(_ defaults: HeaderDefaults, without isLeftOut: (String) -> Bool) {
        fields = defaults.fields.filter { !isLeftOut(String(decoding: $0.name, as: UTF8.self)) }
        all = HeaderDefaults.joined(fields)
        closesConnection = defaults.closesConnection
        hostField = nil
        expectation = isLeftOut("Expect") ? nil : defaults.expectation
        bodyCoding = defaults.bodyCoding
        rejection = defaults.rejection
    }

    private static func joined(_ fields: [Field]) -> HTTPHeaders {
        fields.reduce(into: HTTPHeaders()) { $0.append(contentsOf: $1.line) }
    }

    private struct Builder {
        var fields: [Field] = []
        var closesConnection = false
        var hostField: [UInt8]?
        var expectation: [UInt8]?
        var rejection: RequestRejection?

        mutating func add(_ name: String, value: String) {
            do throws(RequestRejection) {
                try name.withUTF8Bytes { name throws(RequestRejection) in
                    try value.withUTF8Bytes { value throws(RequestRejection) in try add(name, rawValue: value) }
                }
            } catch {
                if rejection == nil { rejection = error }
            }
        }

        mutating func addUnlessPresent(_ name: String, value: String) {
            if !isPresent(name) { add(name, value: value) }
        }

        /// RFC 9110 §14.2: offsets count bytes of the content as it is coded, so a part of it is asked for as it is.
        mutating func addCodings(_ codings: String) {
            guard !isPresent("Accept-Encoding") else { return }
            guard !isPresent("Range") else { return add("Accept-Encoding", value: "identity") }
            var line = HTTPHeaders()
            line.append("Accept-Encoding", value: codings)
            fields.append(Field(name: Array("Accept-Encoding".utf8), line: line, yieldsToRange: true))
        }

        private func isPresent(_ name: String) -> Bool {
            name.withUTF8Bytes { name in
                fields.contains { field in
                    field.name.withUnsafeBytes { ByteScanning.equalsIgnoringCase($0, other: name) }
                }
            }
        }

        private mutating func add(
            _ name: UnsafeRawBufferPointer,
            rawValue: UnsafeRawBufferPointer
        ) throws(RequestRejection) {
            try RequestSyntax.checkFieldName(name)
            let value = try RequestSyntax.trimmedFieldValue(rawValue, of: name)
            switch ReservedField.of(name) {
            case nil: fields.append(Field(name: Array(name), line: Self.line(name, value: value), yieldsToRange: false))
            case .expect: expectation = Array(value)
            case .host: hostField = Array(try RequestSyntax.checkedHostValue(value))
            case .connection: closesConnection = closesConnection || ReservedField.listsClose(value)
            case .ignored: break
            case .refused: throw RequestRejection(.fieldName, rule: .notAllowed, excerpt: EscapedText(name))
            }
        }

        private static func line(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> HTTPHeaders {
            var line = HTTPHeaders()
            line.append(name, value: value)
            return line
        }
    }
}

/// A `User-Agent` product from a program's name.
package enum UserAgent {
    /// `name/1 swift-afnetworking/0.1.0`, with every byte of the name dropped that may not stand in a token. Program
    /// names come from outside: they may hold line breaks or emoji. The name is `AFNetworking` when nothing is left.
    package static func product(programName: String) -> String {
        let token = ASCIISet.token
        let kept = programName.utf8.lazy.filter(token.contains).prefix(64)
        let name = String(decoding: Array(kept), as: UTF8.self)
        return (name.isEmpty ? "AFNetworking" : name) + "/1 swift-afnetworking/\(PackageVersion.current)"
    }
}
