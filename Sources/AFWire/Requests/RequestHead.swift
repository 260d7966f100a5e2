import AFBase

/// What a request says before its body, as a value: each protocol writes it in its own form, HTTP/1.1 with
/// ``HeadWriter``. Everything in it was checked on its way in.
package struct RequestHead: Sendable {
    package let url: RequestURL
    package let method: String
    package let traits: MethodTraits
    package let version: HTTPVersion
    /// The host that the request names, with the port: that of the URL, unless the caller or the session has set one.
    package let host: [UInt8]
    /// The whole URL is the target: the form for a proxy that reads requests (RFC 9112 §3.2.2).
    package var isAbsolute = false
    /// In the order in which they are sent, but without those that follow from the rest: `Host`, `Connection` and what
    /// frames the body.
    package var fields = HTTPHeaders()
    /// The caller or the session asks for `Connection: close`.
    package private(set) var closesConnection: Bool

    package init(
        url: RequestURL,
        method: String,
        traits: MethodTraits,
        version: HTTPVersion = .http11,
        fields: RequestFields = RequestFields(),
        defaults: HeaderDefaults
    ) throws(RequestRejection) {
        self.url = url
        self.method = method
        self.traits = traits
        self.version = version
        closesConnection = defaults.closesConnection
        if let named = fields.isEmpty ? nil : fields["Host"] {
            host = try named.withUTF8Bytes { named throws(RequestRejection) in
                Array(try RequestSyntax.checkedHostValue(named))
            }
        } else if let named = defaults.hostField {
            host = named
        } else {
            host = url.endpoint.hostFieldBytes
        }
    }

    /// The caller's fields in their order, without those that are not the caller's to set.
    package mutating func add(_ fields: RequestFields, hasBody: Bool) throws(RequestRejection) {
        if fields.isEmpty { return }
        // With the session's fields behind them.
        self.fields.reserve(fields.byteCount + 256)
        for field in fields {
            try field.name.withUTF8Bytes { name throws(RequestRejection) in
                try field.value.withUTF8Bytes { value throws(RequestRejection) in
                    try add(name, rawValue: value, hasBody: hasBody)
                }
            }
        }
    }

    /// The caller's fields and those of the session, for a request without a body that lets the session decide. Most
    /// requests have the same fields as the one before.
    package mutating func addAll(_ fields: RequestFields, with defaults: HeaderDefaults) throws(RequestRejection) {
        if let known = defaults.recentFields(for: fields) {
            self.fields = known.all
            closesConnection = known.closesConnection
            return
        }
        try add(fields, hasBody: false)
        add(defaults, lackingIn: fields)
        defaults.noteRecent(fields, all: self.fields, closesConnection: closesConnection)
    }

    private mutating func add(
        _ name: UnsafeRawBufferPointer,
        rawValue: UnsafeRawBufferPointer,
        hasBody: Bool
    ) throws(RequestRejection) {
        try RequestSyntax.checkFieldName(name)
        let value = try RequestSyntax.trimmedFieldValue(rawValue, of: name)
        switch ReservedField.of(name) {
        case nil: fields.append(name, value: value)
        case .expect: if hasBody { fields.append(name, value: value) }
        case .connection: closesConnection = closesConnection || ReservedField.listsClose(value)
        case .host, .ignored: break
        case .refused: throw RequestRejection(.fieldName, rule: .notAllowed, excerpt: EscapedText(name))
        }
    }

    /// What the session's requests expect, unless the caller said what this one does.
    ///
    /// - Parameter isWithheld: as for the session's other fields.
    package mutating func addExpectation(of defaults: HeaderDefaults, butFor isWithheld: ((String) -> Bool)? = nil) {
        guard let value = defaults.expectation, !fields.contains("Expect"), isWithheld?("expect") != true else {
            return
        }
        fields.append("Expect", value: value)
    }

    /// Asks the server before the body is sent, unless something is expected already.
    package mutating func expectContinue() {
        if !fields.contains("Expect") { fields.append("Expect", value: "100-continue") }
    }

    /// Says which fields follow the body.
    package mutating func announce(_ trailers: TrailerSection) {
        fields.append("Trailer", value: trailers.announcement)
    }

    /// RFC 9111 §5.4: `Pragma` is for caches that know nothing else.
    package mutating func addNoCache() {
        if !fields.contains("Cache-Control") { fields.append("Cache-Control", value: "no-cache") }
        if !fields.contains("Pragma") { fields.append("Pragma", value: "no-cache") }
    }

    /// Those of the session's fields that the request lacks.
    ///
    /// - Parameter isWithheld: whether the request is to go without one, by its name in lower case.
    package mutating func add(
        _ defaults: HeaderDefaults,
        lackingIn fields: RequestFields,
        butFor isWithheld: ((String) -> Bool)? = nil
    ) {
        if fields.isEmpty, isWithheld == nil { return self.fields.append(contentsOf: defaults.all) }
        for field in defaults.fields where !fields.contains(field.name) {
            if let isWithheld, isWithheld(ASCII.lowered(String(decoding: field.name, as: UTF8.self))) { continue }
            if field.yieldsToRange, fields["Range"] != nil {
                self.fields.append("Accept-Encoding", value: "identity")
            } else {
                self.fields.append(contentsOf: field.line)
            }
        }
    }

    /// The connection goes on after the response, whatever the caller or the session ask for.
    package mutating func keepConnection() {
        closesConnection = false
    }

    /// Says what the body is, unless the session does.
    package mutating func addType(_ type: String, lackingIn defaults: HeaderDefaults) {
        if !defaults.all.contains("Content-Type") { fields.append("Content-Type", value: type) }
    }

    /// The body waits for `100 Continue`.
    package var expectsContinue: Bool {
        var expects = false
        fields.forEachValue(of: "Expect") {
            expects = expects || ByteScanning.equalsIgnoringCase($0, lowercase: "100-continue")
        }
        return expects
    }
}

/// How a request says where its body ends.
package enum RequestFraming: Sendable, Equatable {
    /// There is no body.
    case none
    case length(Int)
    /// The length is not known.
    case chunked
}
