public import AFURLSession
public import Foundation

extension HTTPSessionManager {
    /// Gets a list that the server sends in pages, each as a value.
    ///
    /// ```swift
    /// for try await items in try manager.pages("items", decode: [Item].self) { add(items) }
    /// ```
    ///
    /// Each page is loaded when you ask for it, and judged and decoded as by `get` with `decode:`. The sequence throws
    /// ``RequestFailure`` for a page that failed, and ``/AFURLTypes/PageRefusal`` where there is a next page that is not
    /// loaded: see `URLSession.pages(of:)`.
    ///
    /// - Parameters:
    ///   - urlString: Of the first page. Resolved against ``baseURL``.
    ///   - parameters: Become the query of the first page.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - limit: The most pages that are loaded.
    ///   - allowsOtherOrigins: Whether a page may lead to another origin than that of the first.
    ///   - type: What to decode from each page.
    ///   - decoder: Decodes it.
    /// - Throws: What the request serializer throws.
    public func pages<Value: Decodable & Sendable>(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        limit: Int = 1000,
        allowsOtherOrigins: Bool = false,
        decode type: Value.Type,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Pages<Value> {
        let first = try request(for: Call("GET", urlString: urlString, parameters: parameters, headers: headers))
        return session.pages(of: first, limit: limit, allowsOtherOrigins: allowsOtherOrigins) { [self] request in
            try await perform(Call(request), decoding: type, decoder: decoder)
        }
    }
}
