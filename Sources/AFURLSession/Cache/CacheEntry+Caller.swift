import AFWire
import Foundation

extension CacheEntry {
    /// What a program stores. Nil if it may not be stored.
    convenience init?(_ cached: CachedURLResponse, for request: URLRequest, at now: CacheInstant) {
        let http = cached.response as? HTTPURLResponse
        guard cached.storagePolicy != .notAllowed, let question = CacheRequest(request),
            let head = StoredHead(http, storedFor: question, at: now)
        else { return nil }
        let isPlain = http.map { type(of: $0) == HTTPURLResponse.self } == true
        self.init(head, cached, mayGoToDisk: isPlain && !CacheRules.isSecret(head))
    }

    /// - Parameter mayGoToDisk: Whether the rules allow that, if the response does.
    convenience init(_ head: StoredHead, _ cached: CachedURLResponse, mayGoToDisk: Bool) {
        let userInfo = cached.userInfo.flatMap { userInfo in
            try? PropertyListSerialization.data(fromPropertyList: userInfo, format: .binary, options: 0)
        }
        let isWritable = (100...999).contains(head.status) && (userInfo != nil || cached.userInfo == nil)
        self.init(
            head,
            body: cached.data,
            presented: cached,
            userInfo: userInfo,
            policy: mayGoToDisk && isWritable ? cached.storagePolicy : .allowedInMemoryOnly
        )
    }

    /// As the program gets it.
    func cachedResponse(for url: URL) -> CachedURLResponse {
        if let presented { return presented }
        return CachedURLResponse(
            response: response(for: url),
            data: body,
            userInfo: decodedUserInfo,
            storagePolicy: policy
        )
    }

    /// As a task gets it.
    ///
    /// - Parameter age: What its `Age` says in place of what the stored one says; nil leaves that as it is. What the
    ///   program stored as an object of a class of its own is always shown as it is.
    func response(for url: URL, age: Int64? = nil) -> HTTPURLResponse {
        let given = presented?.response as? HTTPURLResponse
        if let given, age == nil || type(of: given) != HTTPURLResponse.self { return given }
        var headers = head.headers
        if let age { headers.set("Age", "\(age)") }
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
    /// Of what a program stores. Nil if it may not be stored.
    init?(_ response: HTTPURLResponse?, storedFor question: CacheRequest, at now: CacheInstant) {
        guard question.method == .get, !question.hasBody, !question.isPartial,
            let partition = CachePartition.caller.forCredentials(in: question.headers)
        else { return nil }
        let headers = CacheRules.storedFields(response?.headers ?? HTTPHeaders())
        guard let names = VaryField.names(in: headers), !CacheControl(of: headers).noStore,
            response?.statusCode != 206, response?.statusCode != 304, !headers.contains("Content-Range")
        else { return nil }
        self.init(
            key: question.key,
            partition: partition,
            // What the program says nothing about does not matter to it.
            vary: names.filter { question.headers.contains($0) }.map { VaryField($0, of: question.headers) },
            isDecoded: true,
            status: response?.statusCode ?? 0,
            version: response?.version ?? .http11,
            headers: headers,
            requestTime: now.wall,
            responseTime: now.wall,
            responseMonotonic: now.monotonic
        )
    }
}
