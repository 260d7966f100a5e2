import AFBase

/// The bytes of a request head while they grow. Everything appended was checked on its way in.
package struct HeadAssembly {
    private var bytes: [UInt8] = []
    package private(set) var closesConnection: Bool
    /// The line by which the server is asked whether it wants the body.
    package private(set) var expectation: Expectation?

    /// An `Expect` line.
    package struct Expectation: Sendable {
        /// Where in the head it stands, its line break included.
        package let range: Range<Int>
        /// It is `100-continue`, for which the body waits.
        package let isContinue: Bool

        /// The same after something in front of it was taken out or put in.
        package func moved(by distance: Int) -> Expectation {
            Expectation(range: range.lowerBound + distance..<range.upperBound + distance, isContinue: isContinue)
        }
    }

    package init(
        _ url: RequestURL,
        method: String,
        version: HTTPVersion = .http11,
        fields: RequestFields,
        defaults: HeaderDefaults
    ) throws(RequestRejection) {
        closesConnection = defaults.closesConnection
        bytes.reserveCapacity(256 + url.target.count + defaults.allLines.count + fields.byteCount)
        bytes.append(contentsOf: method.utf8)
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: url.target)
        append(version == .http11 ? " HTTP/1.1\r\nHost: " : " HTTP/1.0\r\nHost: ")
        if let host = fields.isEmpty ? nil : fields["Host"] {
            try host.withUTF8Bytes { host throws(RequestRejection) in
                let value = try RequestSyntax.checkedHostValue(host)
                bytes.append(contentsOf: value)
            }
        } else if let host = defaults.hostField {
            bytes.append(contentsOf: host)
        } else {
            url.endpoint.appendHostField(to: &bytes)
        }
        append("\r\n")
    }

    /// The caller's fields in their order, without those that are not the caller's to set.
    package mutating func add(_ fields: RequestFields, hasBody: Bool) throws(RequestRejection) {
        for field in fields {
            try field.name.withUTF8Bytes { name throws(RequestRejection) in
                try field.value.withUTF8Bytes { value throws(RequestRejection) in
                    try add(name, value, hasBody: hasBody)
                }
            }
        }
    }

    private mutating func add(
        _ name: UnsafeRawBufferPointer,
        _ rawValue: UnsafeRawBufferPointer,
        hasBody: Bool
    ) throws(RequestRejection) {
        try RequestSyntax.checkFieldName(name)
        let value = try RequestSyntax.trimmedFieldValue(rawValue, of: name)
        switch ReservedField.of(name) {
        case nil: appendLine(name, value)
        case .expect: if hasBody { appendExpectation(name, value) }
        case .connection: closesConnection = closesConnection || ReservedField.listsClose(value)
        case .host, .ignored: break  // the Host line is written already
        case .refused: throw RequestRejection(.fieldName, .notAllowed, excerpt: EscapedText(name))
        }
    }

    private mutating func appendExpectation(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let start = bytes.count
        appendLine(name, value)
        let isContinue = ByteScanning.equalsIgnoringCase(value, "100-continue")
        expectation = Expectation(range: start..<bytes.count, isContinue: isContinue)
    }

    /// What the session's requests expect, unless the caller said what this one does.
    ///
    /// - Parameter isWithheld: as for the session's other fields.
    package mutating func addExpectation(of defaults: HeaderDefaults, butFor isWithheld: ((String) -> Bool)? = nil) {
        guard expectation == nil, let value = defaults.expectation, isWithheld?("expect") != true else { return }
        expect(value)
    }

    /// Asks the server before the body is sent, unless something is expected already.
    package mutating func expectContinue() {
        if expectation == nil { expect(Array("100-continue".utf8)) }
    }

    private mutating func expect(_ value: [UInt8]) {
        Array("Expect".utf8).withUnsafeBytes { name in
            value.withUnsafeBytes { appendExpectation(name, $0) }
        }
    }

    /// RFC 9111 §5.4: `Pragma` is for caches that know nothing else.
    package mutating func addNoCache(_ fields: RequestFields) {
        if fields["Cache-Control"] == nil { append("Cache-Control: no-cache\r\n") }
        if fields["Pragma"] == nil { append("Pragma: no-cache\r\n") }
    }

    /// Those of the session's fields that the request lacks.
    ///
    /// - Parameter isWithheld: whether the request is to go without one, by its name in lower case.
    package mutating func add(
        _ defaults: HeaderDefaults,
        lackingIn fields: RequestFields,
        butFor isWithheld: ((String) -> Bool)? = nil
    ) {
        if fields.isEmpty, isWithheld == nil {
            bytes.append(contentsOf: defaults.allLines)
            return
        }
        for field in defaults.fields where !fields.contains(field.name) {
            if let isWithheld, isWithheld(ASCII.lowered(String(decoding: field.name, as: UTF8.self))) { continue }
            if field.yieldsToRange, fields["Range"] != nil {
                append("Accept-Encoding: identity\r\n")
            } else {
                bytes.append(contentsOf: field.line)
            }
        }
    }

    /// Says what the body is, unless the session does.
    package mutating func addType(_ type: String, lackingIn defaults: HeaderDefaults) {
        if defaults.contains("content-type") { return }
        append("Content-Type: ")
        bytes.append(contentsOf: type.utf8)
        append("\r\n")
    }

    /// Framing, connection and the empty line.
    package mutating func finish(bodyLength: Int?, isChunked: Bool = false) throws(RequestRejection) -> [UInt8] {
        if let bodyLength {
            append("Content-Length: ")
            var digits = String(bodyLength)
            digits.withUTF8 { bytes.append(contentsOf: $0) }
            append("\r\n")
        }
        if isChunked { append("Transfer-Encoding: chunked\r\n") }
        if closesConnection { append("Connection: close\r\n") }
        append("\r\n")
        if bytes.count > RequestSyntax.maximumHeadLength { throw RequestRejection(.head, .tooLong) }
        return bytes
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func appendLine(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: name)
        append(": ")
        bytes.append(contentsOf: value)
        append("\r\n")
    }
}
