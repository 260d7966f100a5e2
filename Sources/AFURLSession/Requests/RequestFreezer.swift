import AFLoop
package import AFWire

/// Turns a request into the bytes that go on the wire, or refuses it.
///
/// The order of the head: request line, `Host`, the caller's fields in their order, the cache policy's, the session's
/// defaults, framing and connection. What happens to fields that are not the caller's to set is the table at
/// ``ReservedField``.
package enum RequestFreezer {
    /// - Parameters:
    ///   - defaults: the session's snapshot of fields for requests that lack them.
    ///   - bodyLength: the size of a body the task brings itself; nil means the request's own `httpBody`, if any.
    package static func freeze(
        _ request: URLRequest,
        defaults: HeaderDefaults = .standard,
        bodyLength: Int? = nil
    ) throws(RequestRejection) -> FrozenRequest {
        if let rejection = defaults.rejection { throw rejection }
        let contents = request.contents
        guard let url = contents.url else { throw RequestRejection(.url, .missing) }
        let target = try RequestURL(url.absoluteString)
        let method = try MethodTraits(contents.method)

        let ownBody = bodyLength == nil && contents.body?.isEmpty == false ? contents.body : nil
        let length = bodyLength ?? ownBody?.count ?? (method.announcesEmptyBody ? 0 : nil)
        let hasBody = (length ?? 0) > 0
        if hasBody, !method.mayHaveBody { throw RequestRejection(.body, .bodyNotAllowed) }

        let fields = contents.fields
        var head = try HeadAssembly(target, method: contents.method, fields: fields, defaults: defaults)
        try head.add(fields, hasBody: hasBody)
        if request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData { head.addNoCache(fields) }
        head.add(defaults, lackingIn: fields)
        let bytes = try head.finish(bodyLength: length)

        return FrozenRequest(
            url: target,
            location: url,
            defaults: defaults,
            cachePolicy: contents.explicitCachePolicy,
            idleInterval: contents.explicitTimeout.map { LoopInterval(timeout: $0) },
            asksForPipelining: contents.usesPipelining,
            method: contents.method,
            isIdempotent: method.isIdempotent,
            isHead: method.isHead,
            headBytes: bytes,
            body: ownBody,
            bodyLength: length,
            closesConnection: head.closesConnection
        )
    }
}
