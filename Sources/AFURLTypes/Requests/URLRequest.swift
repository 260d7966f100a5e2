import AFBase
package import AFRequest
package import AFWire
public import Foundation

/// A request to load a URL: its address and method, its header fields and its body.
///
/// A value: a copy that a task has never changes. Copying is one retain; a change copies the contents if there are other
/// copies of the request. Setters check nothing: a request with an unusable URL, method or field fails when its task
/// starts, before the session connects, with an error that names the part.
public struct URLRequest: Sendable {
    private var box: Box

    // Unchecked: a request changes its box only while no other request has it, so no other thread can read it.
    private final class Box: @unchecked Sendable {
        // Opted out of run-time exclusivity checks: a request is a value, so the compiler checks each access to it.
        @exclusivity(unchecked) var contents: Contents
        /// The bytes that were sent first: a request that is sent again has the same.
        let frozen = OnceReference<WireRequest>()

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    package struct Contents: Sendable {
        package var url: URL?
        // What the caller has set takes precedence over the session configuration.
        package var explicitCachePolicy: CachePolicy?
        package var explicitTimeout: TimeInterval?
        package var explicitPipelining: Bool?
        package var isUnanswered = false
        /// Whether fields were set, even if they were removed again: Foundation returns an empty dictionary then, not
        /// nil.
        var hasHadFields = false
        package var method = "GET"
        package var fields = RequestFields()
        package var body: Data?
        package var bodyStream: HandedStream?
        package var redirectPolicy: RedirectPolicy?
        package var cookies = RequestCookies()
        package var limits = OwnLimits.usual
        package var hints = OwnHints.usual
        package var wire = OwnWire.usual
        package var interception = OwnInterception.usual
        /// The properties that URL protocol classes have stored.
        package var properties: [String: any Sendable]?

        /// The type of the body if neither the request nor its session names one: like Foundation, it takes every POST
        /// for a form.
        var impliedBodyType: String? {
            guard method == "POST", fields["Content-Type"] == nil, wire.withheld?.contains("content-type") != true
            else { return nil }
            return "application/x-www-form-urlencoded"
        }
    }

    /// Makes a GET request that follows the cache rules of HTTP and times out after 60 idle seconds. Resolves a URL
    /// that is relative to another, as the other initializers do.
    public init(url: URL) {
        box = Box(Contents(url: url.absoluteURL))
    }

    /// Makes a GET request with a cache policy.
    public init(url: URL, cachePolicy: CachePolicy) {
        box = Box(Contents(url: url.absoluteURL, explicitCachePolicy: cachePolicy))
    }

    /// Makes a GET request with a timeout in seconds.
    public init(url: URL, timeoutInterval: TimeInterval) {
        box = Box(Contents(url: url.absoluteURL, explicitTimeout: timeoutInterval))
    }

    /// Makes a GET request with a cache policy and a timeout in seconds.
    public init(url: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
        box = Box(
            Contents(url: url.absoluteURL, explicitCachePolicy: cachePolicy, explicitTimeout: timeoutInterval)
        )
    }

    /// Header fields that many requests have.
    package struct SharedFields: Sendable {
        fileprivate var fields = RequestFields()

        /// Sorted by name: of two names that differ in case only, the same one wins each time.
        package init(_ headers: [String: String]) {
            for (name, value) in headers.sorted(by: { $0.key < $1.key }) where fields[name] == nil {
                fields[name] = value
            }
        }
    }

    package init(url: URL, method: String, shared: SharedFields? = nil) {
        var contents = Contents(url: url.absoluteURL)
        contents.method = MethodTraits.spelling(method)
        if let shared { contents.addLacking(shared.fields) }
        box = Box(contents)
    }

    package var contents: Contents { box.contents }

    /// The bytes to send. All tasks of sessions with these defaults share them.
    package func frozen(with defaults: HeaderDefaults) throws(RequestRejection) -> WireRequest {
        if let first = box.frozen.value, first.defaults === defaults { return first }
        let frozen = try RequestFreezer.freeze(self, defaults: defaults)
        let first = box.frozen.set(frozen)
        return first.defaults === defaults ? first : frozen
    }

    package mutating func change(_ body: (inout Contents) -> Void) {
        if isKnownUniquelyReferenced(&box), box.frozen.value == nil {
            body(&box.contents)
        } else {
            var contents = box.contents
            body(&contents)
            box = Box(contents)
        }
    }
}

// MARK: - URL, method and body

extension URLRequest {
    /// The URL to load.
    public var url: URL? {
        get { box.contents.url }
        set { change { $0.url = newValue } }
    }

    /// How a cache may be used. The rules of HTTP unless set.
    public var cachePolicy: CachePolicy {
        get { box.contents.explicitCachePolicy ?? .useProtocolCachePolicy }
        set { change { $0.explicitCachePolicy = newValue } }
    }

    /// The longest time in seconds without any progress. 60 unless set.
    public var timeoutInterval: TimeInterval {
        get { box.contents.explicitTimeout ?? 60 }
        set { change { $0.explicitTimeout = newValue } }
    }

    /// The method. Setting nil restores `GET`.
    ///
    /// As in Foundation, `GET`, `HEAD`, `POST`, `PUT`, `DELETE` and `CONNECT` become upper case; all others keep their
    /// case, since methods that differ in case are different methods (RFC 9110 §9.1).
    public var httpMethod: String? {
        get { box.contents.method }
        set { change { $0.method = newValue.map(MethodTraits.spelling) ?? "GET" } }
    }

    /// Whether the session may send the request before the requests in front of it have responses, when all connections
    /// to its host are in use. It does so only with GET, HEAD and other idempotent requests without a body, behind
    /// others like them. If the connection ends, it sends the unanswered ones again on another. False by default;
    /// unless set, ``/AFURLSession/URLSessionConfiguration/httpShouldUsePipelining`` counts.
    public var httpShouldUsePipelining: Bool {
        get { box.contents.explicitPipelining ?? false }
        set { change { $0.explicitPipelining = newValue } }
    }

    /// The body to send. Setting it, also to nil, removes a body stream.
    ///
    /// If neither the request nor the session has a `Content-Type`, the session sends the body of a POST as
    /// `application/x-www-form-urlencoded`, as Foundation does, wherever the body comes from. The field is not among
    /// ``allHTTPHeaderFields``. Put it into ``withheldHeaderFields`` to send none.
    public var httpBody: Data? {
        get { box.contents.body }
        set {
            change { contents in
                contents.body = newValue
                contents.bodyStream = nil
            }
        }
    }

    /// The body as a stream, which the session reads while it sends. Setting it, also to nil, removes a body in memory.
    ///
    /// Pass a stream that is not open. It belongs to the first task that is resumed with this request or a copy of it.
    /// The session opens it, reads it on a thread of its own, 256 KiB ahead of the network at most, and closes it. With
    /// a `Content-Length` field of yours it must have exactly that many bytes; without one it goes in chunks. The
    /// session cannot read it twice: where it has to send the body again, it asks the delegate for another stream with
    /// `urlSession(_:task:needNewBodyStream:)`.
    ///
    /// > Warning: A subclass of `InputStream` whose `streamStatus` can become `.error` must override `streamError`; it
    /// may return nil. The session reads it then, and Foundation on Linux ends the process if a subclass has none of
    /// its own.
    public var httpBodyStream: InputStream? {
        get { box.contents.bodyStream?.stream }
        set {
            let stream = newValue.map(HandedStream.init)
            change { contents in
                contents.bodyStream = stream
                contents.body = nil
            }
        }
    }

    package var bodyStream: HandedStream? { box.contents.bodyStream }
}

// MARK: - Header fields

extension URLRequest.Contents {
    fileprivate mutating func addLacking(_ shared: RequestFields) {
        if shared.isEmpty { return }
        hasHadFields = true
        guard !fields.isEmpty else { return fields = shared }
        for field in shared where fields[field.name] == nil { fields[field.name] = field.value }
    }
}

extension URLRequest {
    /// Adds those of the fields that the request lacks.
    package mutating func addLacking(_ shared: SharedFields) {
        change { $0.addLacking(shared.fields) }
    }

    /// All header fields; nil as long as none were set. Setting it replaces all of them.
    public var allHTTPHeaderFields: [String: String]? {
        get { box.contents.fields.dictionary ?? (box.contents.hasHadFields ? [:] : nil) }
        set {
            change { contents in
                contents.fields = RequestFields(newValue ?? [:])
                contents.hasHadFields = newValue != nil
            }
        }
    }

    /// The value of a field. Names are compared without regard to ASCII case.
    public func value(forHTTPHeaderField field: String) -> String? {
        box.contents.fields[field]
    }

    /// Replaces the value of a field, or removes the field if the value is nil. An existing field keeps its place and
    /// the spelling of its name.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        change { contents in
            contents.fields[field] = value
            if value != nil { contents.hasHadFields = true }
        }
    }

    /// Adds a value to a field, behind the earlier value and a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        change { contents in
            contents.fields.add(value, to: field)
            contents.hasHadFields = true
        }
    }
}
