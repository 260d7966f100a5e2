import Foundation

/// What a request serializer was told. What is nil was never said: then it is not put on requests, and the session's
/// configuration decides.
struct RequestSettings: Sendable {
    var stringEncoding = String.Encoding.utf8
    var allowsCellularAccess: Bool?
    var cachePolicy: URLRequest.CachePolicy?
    var handlesCookies: Bool?
    var usesPipelining: Bool?
    var networkServiceType: URLRequest.NetworkServiceType?
    var timeout: TimeInterval?
    var headers = DefaultHeaders.standard
    var methodsInURI: Set<String> = ["GET", "HEAD", "DELETE"]
    var queryStyle = HTTPRequestQueryStringSerializationStyle.defaultStyle
    var queryBlock: HTTPRequestSerializer.QueryStringBlock?

    /// Puts on the request what was said.
    func apply(to request: inout URLRequest) {
        if let allowsCellularAccess { request.allowsCellularAccess = allowsCellularAccess }
        if let cachePolicy { request.cachePolicy = cachePolicy }
        if let handlesCookies { request.httpShouldHandleCookies = handlesCookies }
        if let usesPipelining { request.httpShouldUsePipelining = usesPipelining }
        if let networkServiceType { request.networkServiceType = networkServiceType }
        if let timeout { request.timeoutInterval = timeout }
    }

    /// The same request with those of the header fields that it lacks.
    func dressed(_ request: URLRequest) -> URLRequest {
        var dressed = request
        // Two names may differ in case only: the same of them wins each time.
        for (name, value) in headers.sorted(by: { $0.key < $1.key })
        where request.value(forHTTPHeaderField: name) == nil {
            dressed.setValue(value, forHTTPHeaderField: name)
        }
        return dressed
    }

    func putsParametersInURI(_ request: URLRequest) -> Bool {
        methodsInURI.contains(ASCII.uppered(request.httpMethod ?? "GET"))
    }

    /// Nil if the block has no query, and no error either.
    ///
    /// - Parameters:
    ///   - request: As it came, without header fields of ours.
    ///   - parameters: As they came.
    ///   - unfold: Makes of them what can be flattened.
    func query(for request: URLRequest, _ parameters: Any, unfold: (Any) throws -> Any) throws -> String? {
        if let queryBlock {
            let (query, error) = collectingError { queryBlock(request, parameters, $0) }
            if let error { throw error }
            return query
        }
        switch queryStyle {
        case .defaultStyle:
            guard let query = try ParameterPairs(unfold(parameters)).query else { throw RequestError.nestedTooDeep }
            return query
        }
    }

    /// Header fields, and parameters as a query or a form.
    func serialize(
        _ request: URLRequest,
        _ parameters: Any?,
        unfold: (Any) throws -> Any = { $0 }
    ) throws -> URLRequest {
        var serialized = dressed(request)
        let query = try parameters.flatMap { try self.query(for: request, $0, unfold: unfold) }
        if putsParametersInURI(request) {
            if let query, !query.isEmpty { try RequestSettings.append(query, to: &serialized) }
        } else {
            serialized.setContentType("application/x-www-form-urlencoded")
            guard let body = (query ?? "").data(using: stringEncoding) else {
                throw RequestError.unencodable(stringEncoding)
            }
            serialized.httpBody = body
        }
        return serialized
    }

    private static func append(_ query: String, to request: inout URLRequest) throws {
        guard let url = request.url else { throw RequestError.unusableURL }
        let text = url.absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let separator = text[..<fragment].contains("?") ? "&" : "?"
        guard let longer = URL(string: text[..<fragment] + separator + query + text[fragment...]) else {
            throw RequestError.unusableQuery
        }
        request.url = longer
    }
}

extension URLRequest {
    /// Says of what kind the body is, unless that was said before.
    mutating func setContentType(_ type: String) {
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(type, forHTTPHeaderField: "Content-Type")
    }
}
