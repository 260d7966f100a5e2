package import AFBase
package import AFLoop
package import AFWire
package import Foundation

/// A request as it is sent, made once, before a connection is chosen: a value with fields, until an exchange writes it.
/// Nothing that happens later changes it, and it is a pure function of the request and the session's header defaults.
package final class WireRequest: Sendable {
    package let head: RequestHead
    package let body: Body
    package let terms: Terms
    /// The URL as the caller wrote it.
    package let location: URL
    /// The session's fields that went into the head.
    package let defaults: HeaderDefaults
    /// Where the URL leads.
    package let endpoint: Endpoint
    private let setsLimits: Bool
    /// The request tells caches what to do.
    package let mentionsCaches: Bool
    /// What the session has derived from the request, for all tasks that send it. The transport does not look at it.
    package let derived = OnceReference<Derived>()

    package final class Derived: Sendable {
        package let value: any DerivedFromRequest

        package init(_ value: any DerivedFromRequest) {
            self.value = value
        }
    }

    package struct Body: Sendable {
        /// What the request itself holds; nil also when the task brings its own.
        package let data: Data?
        package let framing: RequestFraming
        /// It comes from a stream.
        package let isStreamed: Bool
        /// What follows its last chunk.
        package let trailers: TrailerSection?
        /// The coding that the caller asks for; nil also if the content has one already.
        package let coding: ContentCoding?
        /// How long the content is as the caller gives it; nil if that is not known, and if there is none.
        package let length: Int?
        /// How the content is coded, once that is decided.
        package private(set) var coded: Coded?

        package enum Coded: Sendable {
            /// In advance.
            case whole(Data)
            /// While it is sent.
            case onTheWay
        }

        package init(
            data: Data?,
            framing: RequestFraming,
            isStreamed: Bool,
            trailers: TrailerSection? = nil,
            coding: ContentCoding? = nil
        ) {
            self.data = data
            self.framing = framing
            self.isStreamed = isStreamed
            self.trailers = trailers
            self.coding = coding
            length = if case .length(let length) = framing { length } else { data?.count }
        }

        /// The same coded; nil: without a coding.
        fileprivate init(_ body: Body, coded: Coded?) {
            data = body.data
            isStreamed = body.isStreamed
            trailers = body.trailers
            length = body.length
            coding = coded == nil ? nil : body.coding
            self.coded = coded
            framing =
                switch coded {
                case nil: body.framing
                case .whole(let data) where body.trailers == nil: .length(data.count)
                case .whole, .onTheWay: .chunked
                }
        }

        /// What goes on the wire, as far as it is in memory.
        package var content: Data? {
            switch coded {
            case nil: data
            case .whole(let data): data
            case .onTheWay: nil
            }
        }

        /// Whether there is nothing to do before it can be sent.
        package var isReady: Bool { !isStreamed && coding == nil }
        /// It goes out in chunks, since its length is not known.
        package var isChunked: Bool { if case .chunked = framing { true } else { false } }
    }

    /// What the caller says about sending the request.
    package struct Terms: Sendable {
        /// How long to wait for progress, if the caller said so.
        package let idleInterval: LoopInterval?
        /// Whether it may be sent ahead, if the caller said so.
        package let asksForPipelining: Bool?
        package let limits: OwnLimits
        /// What the request asks for if it opens a WebSocket.
        package let webSocket: WebSocketHandshake?
        /// What the caller says about the answer.
        package let answer: AnswerTerms

        package init(
            idleInterval: LoopInterval?,
            asksForPipelining: Bool?,
            limits: OwnLimits,
            webSocket: WebSocketHandshake? = nil,
            answer: AnswerTerms
        ) {
            self.idleInterval = idleInterval
            self.asksForPipelining = asksForPipelining
            self.limits = limits
            self.webSocket = webSocket
            self.answer = answer
        }
    }

    package init(head: RequestHead, body: Body, terms: Terms, location: URL, defaults: HeaderDefaults) {
        self.head = head
        self.body = body
        self.terms = terms
        self.location = location
        self.defaults = defaults
        // Each request is asked for these, and most requests are sent many times.
        if case .usual = terms.limits { setsLimits = false } else { setsLimits = true }
        endpoint = head.url.endpoint
        mentionsCaches = head.fields.contains("Cache-Control")
    }

    package var url: RequestURL { head.url }
    package var method: String { head.method }

    /// The limits that the request sets for itself; nil if it sets none.
    package var ownLimits: RequestLimits? { setsLimits ? terms.limits.own : nil }

    /// Whether it asks for a WebSocket in place of the connection's HTTP.
    package var opensWebSocket: Bool { terms.webSocket != nil }

    /// Whether its connection is for it alone. RFC 9112 §9.3: in HTTP/1.0 it is, unless both sides say otherwise.
    package var closesConnection: Bool {
        if case .http10 = head.version { true } else { head.closesConnection }
    }

    /// All fields as HTTP/1.1 sends them, with those that follow from the rest of the request.
    package var sentFields: HTTPHeaders { HeadWriter.fields(of: head, framing: body.framing) }

    /// The same with its content in a coding.
    package func coded(as coding: ContentCoding, _ coded: Body.Coded) -> WireRequest {
        var head = head
        head.fields.append("Content-Encoding", value: coding.rawValue)
        return with(Body(body, coded: coded), head: head)
    }

    /// The same with its content as it is, whatever the caller asks for.
    package var uncoded: WireRequest { with(Body(body, coded: nil), head: head) }

    private func with(_ body: Body, head: RequestHead) -> WireRequest {
        WireRequest(head: head, body: body, terms: terms, location: location, defaults: defaults)
    }

    /// The same with a change of its head.
    package func changing(_ change: (inout RequestHead) -> Void) -> WireRequest {
        var head = head
        change(&head)
        return with(body, head: head)
    }
}

/// What a session derives from a request as a whole, and keeps with it. `CacheRequest` is one.
package protocol DerivedFromRequest: AnyObject, Sendable {}

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
