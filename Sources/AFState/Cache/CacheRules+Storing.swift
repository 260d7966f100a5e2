import AFBase
package import AFWire

extension CacheRules {
    package enum Storage: Sendable, Equatable {
        case no
        /// The response depends on something that must not be written to disk.
        case inMemory
        case anywhere
    }

    /// Whether the response to a request may be stored (RFC 9111 §3).
    package static func mayStore(_ head: StoredHead, for request: CacheRequest) -> Storage {
        guard request.method == .get, !request.hasBody, !request.control.noStore, !request.control.isMalformed else {
            return .no
        }
        // An error may concern the range or the condition, and not the resource of the URL.
        guard understood.contains(head.status) || !(request.isPartial || request.isConditional) else { return .no }
        return mayKeep(head)
    }

    /// Whether the response itself allows it to be stored.
    package static func mayKeep(_ head: StoredHead) -> Storage {
        guard isStorable(head.status), !head.facts.contains(.contentRange) else { return .no }
        if head.isInert, !head.facts.contains(.vary) { return needsNoLifetime(head.status) ? .inMemory : .no }
        let control = head.control
        guard !control.noStore, !control.isMalformed, !control.mustUnderstand || understood.contains(head.status),
            VaryField.names(in: head.headers) != nil
        else { return .no }
        let isFreshAtFirst = lifetime(of: head) > 0
        guard isFreshAtFirst || needsNoLifetime(head.status) else { return .no }
        return (isFreshAtFirst || mayBeOfUseWhenStale(head)) && !isSecret(head) ? .anywhere : .inMemory
    }

    /// Whether a later request may use a response that is not fresh: when the server confirms it, or instead of an error.
    private static func mayBeOfUseWhenStale(_ head: StoredHead) -> Bool {
        !conditions(for: head).isEmpty || (head.control.staleIfError ?? 0) > 0
            || (head.control.staleWhileRevalidate ?? 0) > 0
    }

    /// Whether a response must not be written to disk: it is for one user, or the file would contain the values of
    /// secrets.
    package static func isSecret(_ head: StoredHead) -> Bool {
        let names = head.facts.contains(.vary) ? VaryField.names(in: head.headers) ?? [] : []
        return !head.partition.isLasting(keepsIdentities: head.options.contains(.keepsUsersOnDisk))
            || names.contains(where: SecretNames.containsField) || leadsToSecret(head.headers)
    }

    /// Whether a URL in the fields has a secret in it: without it the response would mean something else.
    private static func leadsToSecret(_ headers: HTTPHeaders) -> Bool {
        var isSecret = false
        headers.forEach { _, value in
            isSecret = isSecret || SecretNames.areHeld(inURLs: value)
        }
        return isSecret
    }

    /// The fields that the disk gets: a secret is not among them.
    static func lastingFields(_ headers: HTTPHeaders) -> HTTPHeaders {
        var kept = headers
        kept.removeAll { SecretNames.containsField(String(decoding: $0, as: UTF8.self)) }
        return kept
    }

    private static func isStorable(_ status: Int) -> Bool { status >= 200 && !unstorable.contains(status) }

    /// Parts, confirmations, and questions for credentials, which must reach the party that can answer them. RFC 6585
    /// says of 428, 429, 431 and 511 that no cache stores them.
    private static let unstorable = [206, 304, 401, 407, 428, 429, 431, 511]

    /// The statuses that may be stored with `must-understand` (RFC 9111 §5.2.2.3).
    private static let understood = [200, 203, 204, 300, 301, 302, 307, 308, 404, 405, 410, 414, 501]

    /// Whether a response of this status may be stored without a lifetime: it can still answer requests that accept any
    /// age. An error or a redirect is sent again anyway, and RFC 9111 §3 forbids other statuses.
    private static func needsNoLifetime(_ status: Int) -> Bool { [200, 203, 204].contains(status) }

    /// Whether a response with these fields might have to be stored. Quick, and often true where it need not be.
    package static func mayBeOfUse(_ status: Int, facts: ResponseFacts) -> Bool {
        isStorable(status)
            && (needsNoLifetime(status) || !facts.isDisjoint(with: [.cacheControl, .expires, .lastModified]))
    }

    /// Whether a response with this status takes the place of the stored one, whether it is stored or not.
    package static func replaces(_ status: Int) -> Bool {
        status != 206 && ((200..<300).contains(status) || [300, 301, 308, 404, 410].contains(status))
    }

    /// The fields of a response without those of its connection (RFC 9111 §3.1).
    package static func storedFields(_ headers: HTTPHeaders) -> HTTPHeaders {
        guard ResponseFacts(of: headers).contains(.connection) else { return headers }
        var kept = headers
        let named = namesInConnection(headers)
        kept.removeAll { name in
            concernsConnection(name)
                || named.contains { $0.withUTF8Bytes { ByteScanning.equalsIgnoringCase(name, other: $0) } }
        }
        return kept
    }

    /// Whether a field concerns the connection alone, whatever `Connection` says.
    static func concernsConnection(_ name: UnsafeRawBufferPointer) -> Bool {
        func isCalled(_ other: StaticString) -> Bool { ByteScanning.equalsIgnoringCase(name, lowercase: other) }
        // Most names have another length than all of these.
        return switch name.count {
        case 2: isCalled("te")
        case 7: isCalled("upgrade")
        case 10: isCalled("connection") || isCalled("keep-alive")
        case 16: isCalled("proxy-connection")
        case 17: isCalled("transfer-encoding")
        case 18: isCalled("proxy-authenticate")
        case 19: isCalled("proxy-authorization")
        case 25: isCalled("proxy-authentication-info")
        default: false
        }
    }

    /// The names of the fields that `Connection` names, in lower case.
    static func namesInConnection(_ headers: HTTPHeaders) -> [String] {
        var names: [String] = []
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "connection"),
                !ByteScanning.equalsIgnoringCase(value, lowercase: "keep-alive")
            else { return }
            ByteScanning.forEachListElement(of: value) { element in
                let name = String(decoding: element.map(ASCII.folded), as: UTF8.self)
                // `Connection` cannot remove a field that the rules decide by.
                if ByteScanning.isToken(element), !decisive.contains(name) { names.append(name) }
            }
        }
        return names
    }

    private static let decisive: Set<String> = [
        "age", "cache-control", "content-encoding", "content-length", "content-range", "content-type", "date", "etag",
        "expires", "last-modified", "vary",
    ]
}
