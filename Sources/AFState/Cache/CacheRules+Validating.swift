import AFBase
package import AFWire
import FoundationEssentials

extension CacheRules {
    // MARK: - Asking

    /// The conditions that ask the server whether a stored response is still good (RFC 9111 §4.3.1). Empty if the
    /// response came without a validator.
    static func conditions(for stored: StoredHead) -> HTTPHeaders {
        var fields = HTTPHeaders()
        guard !stored.facts.isDisjoint(with: [.entityTag, .lastModified]) else { return fields }
        if let tag = entityTag(in: stored.headers) {
            tag.withUnsafeBytes { fields.append("If-None-Match", bytes: $0) }
        }
        if let changed = lastModified(in: stored.headers) { fields.append("If-Modified-Since", value: changed) }
        return fields
    }

    /// The one `ETag`, byte for byte. Nil if there are several, or if it is malformed.
    package static func entityTag(in headers: HTTPHeaders) -> [UInt8]? {
        var tag: [UInt8]?
        var isGood = true
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "etag") else { return }
            isGood = isGood && tag == nil && isEntityTag(value)
            tag = Array(value)
        }
        return isGood ? tag : nil
    }

    /// The `ETag`, if no two contents have the same (RFC 9110 §8.8.1).
    static func strongTag(of stored: StoredHead) -> [UInt8]? {
        guard stored.facts.contains(.entityTag) else { return nil }
        return entityTag(in: stored.headers).flatMap { $0.starts(with: "W/".utf8) ? nil : $0 }
    }

    /// Whether the value is an entity tag (RFC 9110 §8.8.3).
    private static func isEntityTag(_ value: UnsafeRawBufferPointer) -> Bool {
        let quoted = value.starts(with: "W/".utf8) ? value.dropFirst(2) : value[...]
        guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""), quoted.last == UInt8(ascii: "\"") else {
            return false
        }
        return quoted.dropFirst().dropLast().allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    }

    private static func lastModified(in headers: HTTPHeaders) -> String? {
        let values = headers.values("Last-Modified")
        guard values.count == 1, let value = values.first, HTTPDate.seconds(value) != nil else { return nil }
        return value
    }

    /// RFC 9110 §8.8.3.2: whether a tag is weak does not matter here.
    static func areEqualWeakly(_ tag: [UInt8], other: [UInt8]) -> Bool {
        opaque(tag) == opaque(other)
    }

    private static func opaque(_ tag: [UInt8]) -> ArraySlice<UInt8> {
        tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag[...]
    }

    // MARK: - The answer

    package enum Confirmation: Sendable {
        /// The stored response is still good, with these updated fields.
        case confirmed(StoredHead)
        /// The server confirmed another response than the stored one.
        case mismatch
    }

    /// Updates the stored response with the fields of the 304 that confirms it (RFC 9111 §4.3.4).
    package static func merge(
        _ stored: StoredHead,
        with headers: HTTPHeaders,
        for request: CacheRequest,
        requestTime: CacheInstant,
        responseTime: CacheInstant
    ) -> Confirmation {
        guard confirms(headers, stored: stored.headers) else { return .mismatch }
        // To a request of another user a 304 has to name the very content.
        let isOwn = stored.partition.admits(request.identities)
        guard isOwn || strongTag(of: stored).map({ $0 == entityTag(in: headers) }) == true else { return .mismatch }
        let fields = merged(stored.headers, with: headers)
        return .confirmed(
            StoredHead(
                key: stored.key,
                partition: CachePartition(stored.partition.scope, for: request.identities, options: stored.options),
                // If `Vary` has changed, the values of this request count.
                vary: (VaryField.names(in: fields) ?? []).map { VaryField($0, of: request.headers) },
                isDecoded: stored.isDecoded,
                status: stored.status,
                version: stored.version,
                headers: fields,
                requestTime: requestTime.wall,
                responseTime: responseTime.wall,
                responseMonotonic: responseTime.monotonic,
                options: stored.options,
                cookies: stored.cookies
            )
        )
    }

    private static func confirms(_ headers: HTTPHeaders, stored: HTTPHeaders) -> Bool {
        if headers.contains("ETag") {
            guard let tag = entityTag(in: headers), let own = entityTag(in: stored) else { return false }
            return areEqualWeakly(tag, other: own)
        }
        if headers.contains("Last-Modified"), entityTag(in: stored) == nil {
            guard let changed = lastModified(in: headers), let own = lastModified(in: stored) else { return false }
            return HTTPDate.seconds(changed) == HTTPDate.seconds(own)
        }
        return true
    }

    /// RFC 9111 §3.2: every field of the 304 replaces all lines of its name, except fields that describe a body, which
    /// the 304 does not have.
    private static func merged(_ stored: HTTPHeaders, with headers: HTTPHeaders) -> HTTPHeaders {
        var news: Set<String> = []
        let ofConnection = Set(namesInConnection(headers))
        headers.forEach { name, _ in
            if concernsConnection(name) { return }
            let name = String(decoding: name.map(ASCII.folded), as: UTF8.self)
            if !ofBody.contains(name), !ofConnection.contains(name) { news.insert(name) }
        }
        // These described the way of the earlier response.
        let outdated = news.union(["age", "date"])
        var result = HTTPHeaders()
        func copy(_ fields: HTTPHeaders, where isWanted: (String) -> Bool) {
            fields.forEach { name, value in
                let lowered = String(decoding: name.map(ASCII.folded), as: UTF8.self)
                if isWanted(lowered) { result.append(String(decoding: name, as: UTF8.self), bytes: value) }
            }
        }
        copy(stored) { !outdated.contains($0) }
        copy(headers) { news.contains($0) }
        return result
    }

    private static let ofBody: Set<String> = [
        "content-encoding", "content-length", "content-md5", "content-range", "content-type", "digest",
        "content-digest", "repr-digest",
    ]

    // MARK: - Outdated responses

    /// The URLs whose stored responses must not be used any more after this exchange (RFC 9111 §4.4).
    package static func invalidated(by request: CacheRequest, status: Int, headers: HTTPHeaders) -> [CacheKey] {
        guard request.method == .unsafe, (200..<400).contains(status) else { return [] }
        var keys = [request.key]
        let host = request.headers.firstBytes("Host")
        for name in ["Location", "Content-Location"] {
            for value in headers.values(name) {
                guard let url = resolve(value, against: request.url), url.endpoint == request.url.endpoint else {
                    continue
                }
                let key = CacheKey(url, host: host)
                if !keys.contains(key) { keys.append(key) }
            }
        }
        return keys
    }

    /// Whether the response to HEAD shows that the stored response is outdated (RFC 9111 §4.3.5).
    package static func isOutdated(_ stored: StoredHead, byHead status: Int, headers: HTTPHeaders) -> Bool {
        guard status == 200, stored.status == 200 else { return false }
        for name in ["ETag", "Last-Modified", "Content-Length", "Content-Encoding"] {
            guard let value = headers.firstBytes(name) else { continue }
            if stored.headers.firstBytes(name) != value { return true }
        }
        return false
    }

    /// The URL that a reference in a field names. Nil if it cannot be loaded.
    package static func resolve(_ reference: String, against url: RequestURL) -> RequestURL? {
        guard let base = URL(string: url.localText), let location = URL(string: reference, relativeTo: base) else {
            return nil
        }
        return try? RequestURL(location.absoluteString)
    }
}
