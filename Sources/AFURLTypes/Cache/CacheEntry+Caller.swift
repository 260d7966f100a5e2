import AFBase
package import AFRequest
import AFState
import AFWire
package import Foundation

extension CachedURLResponse: PresentedResponse {}

extension CacheEntry {
    /// The entry for a response that the program stores. Nil if the response may not be stored.
    package convenience init?(
        _ cached: CachedURLResponse,
        for request: URLRequest,
        under scope: TrustScope,
        at now: CacheInstant,
        options: CacheOptions
    ) {
        let http = cached.response as? HTTPURLResponse
        guard cached.storagePolicy != .notAllowed, let question = CacheRequest.of(request),
            let head = StoredHead(http, storedFor: question, under: scope, at: now, options: options)
        else { return nil }
        let isPlain = http.map { type(of: $0) == HTTPURLResponse.self } == true
        self.init(head: head, cached: cached, mayGoToDisk: isPlain && !CacheRules.isSecret(head))
    }

    /// - Parameter mayGoToDisk: Whether the rules allow it to be written to disk, if the response does.
    package convenience init(head: StoredHead, cached: CachedURLResponse, mayGoToDisk: Bool) {
        let userInfo = cached.userInfo.flatMap { userInfo in
            try? PropertyListSerialization.data(fromPropertyList: userInfo, format: .binary, options: 0)
        }
        let isWritable = (100...999).contains(head.status) && (userInfo != nil || cached.userInfo == nil)
        self.init(
            head: head,
            body: cached.data,
            presented: cached,
            userInfo: userInfo,
            mayGoToDisk: mayGoToDisk && isWritable && cached.storagePolicy == .allowed
        )
    }

    /// The response as the program stored it; nil for one that a session stored.
    private var presentedResponse: CachedURLResponse? { presented as? CachedURLResponse }

    /// The same body with other fields.
    package func updated(_ head: StoredHead, mayGoToDisk: Bool) -> CacheEntry {
        let mayGoToDisk = mayGoToDisk && self.mayGoToDisk
        guard let presented = presentedResponse, let url = presented.response.url else {
            return CacheEntry(head: head, body: body, userInfo: userInfo, mayGoToDisk: mayGoToDisk)
        }
        let response = HTTPURLResponse(
            url: url,
            status: head.status,
            version: head.version,
            headers: head.headers,
            decodes: head.isDecoded
        )
        let cached = CachedURLResponse(
            response: response,
            data: body,
            userInfo: presented.userInfo,
            storagePolicy: mayGoToDisk ? .allowed : .allowedInMemoryOnly
        )
        return CacheEntry(head: head, body: body, presented: cached, userInfo: userInfo, mayGoToDisk: mayGoToDisk)
    }

    /// The stored response for the program.
    package func cachedResponse(for url: URL) -> CachedURLResponse {
        if let presentedResponse { return presentedResponse }
        return CachedURLResponse(
            response: response(for: url),
            data: body,
            userInfo: decodedUserInfo,
            storagePolicy: mayGoToDisk ? .allowed : .allowedInMemoryOnly
        )
    }

    /// The stored response for a task.
    ///
    /// - Parameter age: The value of `Age` in place of the stored one; nil keeps the stored one. An object of a
    ///   subclass that the program stored is always returned as it is.
    package func response(for url: URL, age: Int64? = nil) -> HTTPURLResponse {
        let given = presentedResponse?.response as? HTTPURLResponse
        if let given, age == nil || type(of: given) != HTTPURLResponse.self { return given }
        var headers = head.headers
        if let age { headers.set("Age", value: "\(age)") }
        return HTTPURLResponse(
            url: given?.url ?? url,
            status: head.status,
            version: head.version,
            headers: headers,
            decodes: head.isDecoded
        )
    }

    private var decodedUserInfo: [AnyHashable: Any]? {
        userInfo.flatMap { data in
            (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [AnyHashable: Any]
        }
    }
}

extension StoredHead {
    /// The head of a response that the program stores. Nil if the response may not be stored.
    package convenience init?(
        _ response: HTTPURLResponse?,
        storedFor question: CacheRequest,
        under scope: TrustScope,
        at now: CacheInstant,
        options: CacheOptions
    ) {
        guard question.method == .get, !question.hasBody, !question.isPartial else { return nil }
        let headers = CacheRules.storedFields(response?.headers ?? HTTPHeaders())
        guard let names = VaryField.names(in: headers), !CacheControl(of: headers).noStore,
            response?.statusCode != 206, response?.statusCode != 304, !headers.contains("Content-Range")
        else { return nil }
        self.init(
            key: question.key,
            partition: CachePartition(scope, for: question.identities, options: options),
            // A field that the program's request does not have does not matter to the program.
            vary: names.filter { question.headers.contains($0) }.map { VaryField($0, of: question.headers) },
            isDecoded: true,
            status: response?.statusCode ?? 0,
            version: response?.version ?? .http11,
            headers: headers,
            requestTime: now.wall,
            responseTime: now.wall,
            responseMonotonic: now.monotonic,
            options: options
        )
    }
}

// MARK: - Requests in the words of the rules

extension CacheRequest: DerivedFromRequest {
    /// Made once for all tasks that send the request.
    package static func of(_ request: WireRequest) -> CacheRequest {
        if let known = request.derived.value?.value as? CacheRequest { return known }
        let made = CacheRequest(request.head, framing: request.body.framing)
        _ = request.derived.set(WireRequest.Derived(made))
        return made
    }

    /// A request as a caller wrote it, without the fields that a session adds. Nil if no response to it could be
    /// stored.
    package static func of(_ request: URLRequest) -> CacheRequest? {
        guard let location = request.url, let url = try? RequestURL(location.absoluteString) else { return nil }
        let contents = request.contents
        guard let headers = HTTPHeaders(checking: contents.fields.dictionary ?? [:]) else { return nil }
        let hasBody = contents.body?.isEmpty == false || contents.bodyStream != nil
        return CacheRequest(method: contents.method, url: url, headers: headers, hasBody: hasBody)
    }
}
