import AFLoop
package import AFRequest
package import AFWire
import Foundation

/// Turns a request into the one that goes on the wire, or refuses it.
///
/// The order of the fields: the caller's in their order, the cache policy's, the session's defaults, the type of a
/// POST's body if none of them has it, and those that a load adds. The table at ``ReservedField`` says what happens to
/// fields that the caller may not set.
package enum RequestFreezer {
    /// The body that the request will have.
    package enum BodyPlan: Sendable {
        /// The request's `httpBody`, if any.
        case own
        /// A body of this length, which the task brings.
        case length(Int)
        /// A body of unknown length: the caller's `Content-Length` counts, and the sender enforces it later; without
        /// one the body goes in chunks.
        case stream
    }

    /// - Parameters:
    ///   - defaults: the session's snapshot of fields for requests that lack them.
    ///   - bodyLength: the size of a body the task brings itself; nil means the request's own `httpBody`, if any.
    package static func freeze(
        _ request: URLRequest,
        defaults: HeaderDefaults = .standard,
        bodyLength: Int? = nil
    ) throws(RequestRejection) -> WireRequest {
        try freeze(request, defaults: defaults, plan: bodyLength.map(BodyPlan.length) ?? .own)
    }

    /// - Parameter expectsContinueAbove: From this length on, the session asks the server before it sends the body.
    package static func freeze(
        _ request: URLRequest,
        defaults: HeaderDefaults,
        plan: BodyPlan,
        expectsContinueAbove: Int64? = nil
    ) throws(RequestRejection) -> WireRequest {
        if let rejection = defaults.rejection { throw rejection }
        let contents = request.contents
        guard let url = contents.url else { throw RequestRejection(.url, rule: .missing) }
        let webSocket = try handshake(of: contents, defaults: defaults)
        let target = try RequestURL(url.absoluteString, opensWebSocket: webSocket != nil)
        let method = try MethodTraits(contents.method)

        var fields = contents.fields
        if webSocket != nil { for name in WebSocketHandshake.ownFields { fields[name] = nil } }
        let length = try length(of: contents, method: method, plan: plan)
        let isStreamed = if case .stream = plan { true } else { false }
        let trailers = try contents.wire.trailers?.section()
        let hasBody = (length ?? 0) > 0 || isStreamed && length == nil
        if trailers != nil, !hasBody { throw RequestRejection(.body, rule: .trailersNeedBody) }
        if trailers != nil, isStreamed, length != nil { throw RequestRejection(.body, rule: .trailersNeedChunks) }
        let framing: RequestFraming =
            if trailers != nil { .chunked } else { length.map { .length($0) } ?? (isStreamed ? .chunked : .none) }
        if webSocket != nil, hasBody || contents.method != "GET" || contents.wire.version != .http11 {
            throw RequestRejection(.head, rule: .notUpgradable)
        }
        if hasBody, !method.mayHaveBody, !contents.wire.sendsBodyWithAnyMethod || method.isTrace {
            throw RequestRejection(.body, rule: .bodyNotAllowed)
        }
        let version = contents.wire.version
        if framing == .chunked, version == .http10 { throw RequestRejection(.body, rule: .lengthUnknown) }

        var head = try RequestHead(
            url: target,
            method: contents.method,
            traits: method,
            version: version,
            fields: fields,
            defaults: defaults
        )
        // RFC 9110 §10.1.1: a server of HTTP/1.0 never answers `100 Continue`.
        let mayExpect = hasBody && version == .http11
        let hasOwnRules = contents.wire.withheld != nil
        let isReload = request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData
        if !hasBody, !hasOwnRules, !isReload {
            try head.addAll(fields, with: defaults)
            if webSocket != nil { head.keepConnection() }
            let body = WireRequest.Body(data: nil, framing: framing, isStreamed: isStreamed)
            return try wireRequest(
                head,
                body: body,
                contents: contents,
                webSocket: webSocket,
                url: url,
                defaults: defaults
            )
        }
        let isWithheld = contents.wire.withheld.map { names in { names.contains($0) } }
        try head.add(fields, hasBody: mayExpect)
        if mayExpect { head.addExpectation(of: defaults, butFor: isWithheld) }
        if mayExpect, let expectsContinueAbove, Int64(length ?? .max) > expectsContinueAbove { head.expectContinue() }
        if let trailers { head.announce(trailers) }
        if isReload { head.addNoCache() }
        head.add(defaults, lackingIn: fields, butFor: isWithheld)
        if hasBody, let type = contents.impliedBodyType { head.addType(type, lackingIn: defaults) }
        if webSocket != nil { head.keepConnection() }
        let body = WireRequest.Body(
            data: ownBody(of: contents, plan: plan),
            framing: framing,
            isStreamed: isStreamed,
            trailers: trailers,
            coding: hasBody ? coding(of: contents, in: head, defaults: defaults) : nil
        )
        return try wireRequest(head, body: body, contents: contents, webSocket: webSocket, url: url, defaults: defaults)
    }

    private static func wireRequest(
        _ head: RequestHead,
        body: WireRequest.Body,
        contents: URLRequest.Contents,
        webSocket: WebSocketHandshake?,
        url: URL,
        defaults: HeaderDefaults
    ) throws(RequestRejection) -> WireRequest {
        try HeadWriter.checkLength(of: head, framing: body.framing)
        return WireRequest(
            head: head,
            body: body,
            terms: WireRequest.Terms(
                idleInterval: contents.explicitTimeout.map { LoopInterval(timeout: $0) },
                asksForPipelining: contents.explicitPipelining,
                limits: contents.limits,
                webSocket: webSocket,
                answer: AnswerTerms(contents)
            ),
            location: url,
            defaults: defaults
        )
    }

    /// What a request for a WebSocket asks for: with the subprotocols that it names, and those that its fields name.
    private static func handshake(
        of contents: URLRequest.Contents,
        defaults: HeaderDefaults
    ) throws(RequestRejection) -> WebSocketHandshake? {
        guard let handshake = contents.wire.webSocket else { return nil }
        let name = WebSocketHandshake.subprotocolField
        let named = contents.fields[name] ?? defaults.all.joined(name) ?? ""
        let added = named.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
        let complete = added.isEmpty ? handshake : handshake.with(subprotocols: handshake.subprotocols + added)
        if let unusable = complete.unusableSubprotocol {
            throw RequestRejection(
                .fieldValue,
                rule: .notSubprotocol,
                excerpt: EscapedText(unusable),
                field: EscapedText(name)
            )
        }
        return complete
    }

    /// What is said of the bytes of a body would not hold of the coded ones.
    private static func coding(
        of contents: URLRequest.Contents,
        in head: RequestHead,
        defaults: HeaderDefaults
    ) -> ContentCoding? {
        guard let coding = contents.wire.bodyCoding.map(\.coding) ?? defaults.bodyCoding else { return nil }
        let names = ["Content-Encoding", "Content-Range", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest"]
        return names.contains { head.fields.contains($0) } ? nil : coding
    }

    private static func ownBody(of contents: URLRequest.Contents, plan: BodyPlan) -> Data? {
        guard case .own = plan, contents.body?.isEmpty == false else { return nil }
        return contents.body
    }

    private static func length(
        of contents: URLRequest.Contents,
        method: MethodTraits,
        plan: BodyPlan
    ) throws(RequestRejection) -> Int? {
        switch plan {
        case .own: ownBody(of: contents, plan: plan)?.count ?? (method.announcesEmptyBody ? 0 : nil)
        case .length(let length): length
        case .stream: try announcedLength(in: contents.fields)
        }
    }

    private static func announcedLength(in fields: RequestFields) throws(RequestRejection) -> Int? {
        guard let text = fields["Content-Length"] else { return nil }
        let length = text.withUTF8Bytes { ByteScanning.decimal(ByteScanning.trimmingOWS($0)) }
        guard let length else {
            throw RequestRejection(.fieldValue, rule: .notLength, field: EscapedText("Content-Length"))
        }
        return Int(length)
    }
}

extension AnswerTerms {
    fileprivate init(_ contents: URLRequest.Contents) {
        self.init(
            cacheUse: contents.explicitCachePolicy.flatMap { CacheUse(rawValue: UInt8($0.rawValue)) },
            keepsCoding: contents.wire.keepsCoding,
            hasInterceptors: contents.interception.hasInterceptors
        )
    }
}

extension WireRequest {
    /// The cache policy that the request itself names, if it does.
    package var cachePolicy: URLRequest.CachePolicy? {
        terms.answer.cacheUse.flatMap { URLRequest.CachePolicy(rawValue: UInt($0.rawValue)) }
    }
}

extension HeaderDefaults {
    /// The defaults of a session without additional headers.
    package static let standard = HeaderDefaults(additionalHeaders: [:])

    /// Adds a `User-Agent` with the name of this program, and an `Accept-Encoding` with the codings that the session
    /// can decode.
    ///
    /// - Parameters:
    ///   - decodes: False for no `Accept-Encoding`.
    ///   - bodyCoding: What makes the bodies of requests shorter that do not say so themselves.
    package convenience init(
        additionalHeaders: [String: String],
        decodes: Bool = true,
        bodyCoding: BodyCoding = .identity
    ) {
        self.init(
            additionalHeaders: additionalHeaders,
            userAgent: Self.userAgent,
            contentCodings: decodes ? ContentCoding.accepted : nil,
            bodyCoding: bodyCoding.coding
        )
    }

    /// The name of this program.
    package static let userAgent = UserAgent.product(programName: ProcessInfo.processInfo.processName)
}
