import AFBase
import AFTransport
import AFWire
public import Foundation

/// A request to load a URL: where, how, with which header fields and body.
///
/// A value: a copy handed to a task never changes. Copying is one retain; every change copies the contents
/// once. Nothing is checked here. A request with an unusable URL, method or field fails when its task
/// starts, before a connection is made, with an error naming the part.
public struct URLRequest: Sendable {
    private var box: Box

    /// Constant, so that the compiler can see that requests may be shared: a change makes another box.
    private final class Box: Sendable {
        let contents: Contents
        /// As it was first sent: a request that is sent again is the same bytes.
        let frozen = OnceReference<WireRequest>()

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    struct Contents: Sendable {
        var url: URL?
        var explicitCachePolicy: CachePolicy?
        var explicitTimeout: TimeInterval?
        var explicitPipelining: Bool?
        var isUnanswered = false
        /// Fields were set, though perhaps removed again: Foundation tells that from none.
        var hasHadFields = false
        var method = "GET"
        var fields = RequestFields()
        var body: Data?
        var bodyStream: HandedStream?
        var redirectPolicy: RedirectPolicy?
        var cookies = RequestCookies()
        var limits = OwnLimits.usual
        var wire = OwnWire.usual
        var interception = OwnInterception.usual
        /// What classes of the program have noted about it.
        var properties: [String: any Sendable]?
    }

    /// Makes a GET request that follows the protocol's cache rules and times out after 60 idle seconds. A URL that is
    /// relative to another is resolved, here and in the other initializers.
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

    var contents: Contents { box.contents }

    /// The bytes to send, made once for all tasks of sessions with these defaults.
    func frozen(with defaults: HeaderDefaults) throws(RequestRejection) -> WireRequest {
        if let first = box.frozen.value, first.defaults === defaults { return first }
        let frozen = try RequestFreezer.freeze(self, defaults: defaults)
        let first = box.frozen.set(frozen)
        return first.defaults === defaults ? first : frozen
    }

    mutating func change(_ body: (inout Contents) -> Void) {
        var contents = box.contents
        body(&contents)
        box = Box(contents)
    }
}

// MARK: - What to load

extension URLRequest {
    /// The URL to load.
    public var url: URL? {
        get { box.contents.url }
        set { change { $0.url = newValue } }
    }

    /// How a cache may be used. The protocol's rules unless set.
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
    /// As in Foundation, `GET`, `HEAD`, `POST`, `PUT`, `DELETE` and `CONNECT` become upper case; the case of all others
    /// is kept, since methods that differ in case differ (RFC 9110 §9.1).
    public var httpMethod: String? {
        get { box.contents.method }
        set { change { $0.method = newValue.map(MethodTraits.spelling) ?? "GET" } }
    }

    /// Whether the request may be sent before requests in front of it are answered, when
    /// all connections to its host are in use. Only GET, HEAD and other idempotent
    /// requests without a body ever are, behind others like them. What is not answered
    /// because the connection ends is sent again on another. False; unless set, what
    /// ``URLSessionConfiguration/httpShouldUsePipelining`` says counts.
    public var httpShouldUsePipelining: Bool {
        get { box.contents.explicitPipelining ?? false }
        set { change { $0.explicitPipelining = newValue } }
    }

    /// The body to send. Setting it, also to nil, removes a body stream.
    ///
    /// A body of a POST for which neither the request nor the session has a `Content-Type` is sent as
    /// `application/x-www-form-urlencoded`, as Foundation does, wherever it comes from. The field is not among
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

    /// The body to send, read while it is sent. Setting it, also to nil, removes a body
    /// in memory.
    ///
    /// The stream must not be open, and belongs to the first task that is resumed with
    /// this request or a copy of it: it is opened and read on a thread of its own, 256 KiB
    /// ahead of the network at most, and closed. With a `Content-Length` field of yours it
    /// must have exactly that many bytes; without one it is sent in chunks. It cannot be
    /// read twice: where it would have to be sent again, the delegate is asked for another
    /// with `urlSession(_:task:needNewBodyStream:)`.
    ///
    /// > Warning: A subclass of `InputStream` whose `streamStatus` can become `.error` must override `streamError`: that is
    /// asked for then, and Foundation on Linux ends the process where a subclass has none of its own. Nil will do.
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

    var bodyStream: HandedStream? { box.contents.bodyStream }

    /// The timeout if the caller set one: only then it wins over the session configuration's.
    package var explicitTimeout: TimeInterval? { box.contents.explicitTimeout }

    /// The cache policy if the caller set one: only then it wins over the session configuration's.
    package var explicitCachePolicy: CachePolicy? { box.contents.explicitCachePolicy }

    /// Whether it may be sent ahead, if the caller said so: only then it wins over the session configuration's.
    package var explicitlyUsesPipelining: Bool? { box.contents.explicitPipelining }

    /// The service type if the caller set one: only then it wins over the session configuration's.
    package var explicitServiceType: NetworkServiceType? { box.contents.limits.value.serviceType }
}

// MARK: - Header fields

extension URLRequest {
    /// All header fields; nil as long as none were set. Setting replaces all of them.
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

    /// Replaces the value of a field, or removes the field if the value is nil. A field that is there keeps its place
    /// and the spelling of its name.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        change { contents in
            contents.fields[field] = value
            if value != nil { contents.hasHadFields = true }
        }
    }

    /// Adds a value to a field. An earlier value is kept in front of it, with a comma between.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        change { contents in
            contents.fields.add(value, to: field)
            contents.hasHadFields = true
        }
    }
}
