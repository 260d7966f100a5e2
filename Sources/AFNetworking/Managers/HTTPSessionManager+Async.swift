public import Foundation

// Unchecked: the serializer's object goes to one caller, and nothing else keeps it.
/// A response and the object that the response serializer made of it.
public struct SerializedResponse: @unchecked Sendable {
    /// The serializer's object; nil for an empty body.
    public let object: Any?
    /// The response.
    public let response: HTTPURLResponse?
    /// The task, which has completed.
    public let task: URLSessionDataTask
}

// The verbs for `async` code. They need no queue, cancel their task when the Swift task is cancelled, and throw a
// ``RequestFailure``.

extension HTTPSessionManager {
    /// Gets a resource.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - progress: Receives how much of the response has arrived.
    @discardableResult
    public func get(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        progress: ProgressHandler? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(
            Call("GET", urlString: urlString, parameters: parameters, headers: headers, download: progress)
        )
    }

    /// Gets a resource as a value.
    ///
    /// The status must be one that ``responseSerializer`` accepts, and the body JSON.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the query.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - type: What to decode.
    ///   - decoder: Decodes it.
    public func get<Value: Decodable>(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        decode type: Value.Type,
        with decoder: JSONDecoder = JSONDecoder()
    ) async throws(RequestFailure) -> Value {
        try await perform(
            Call("GET", urlString: urlString, parameters: parameters, headers: headers),
            decoding: type,
            decoder: decoder
        ).value
    }

    /// Asks for the head of a resource.
    @discardableResult
    public func head(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(Call("HEAD", urlString: urlString, parameters: parameters, headers: headers))
    }

    /// Posts parameters.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the body.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - progress: Receives how much of the body was sent.
    @discardableResult
    public func post(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        progress: ProgressHandler? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(
            Call("POST", urlString: urlString, parameters: parameters, headers: headers, upload: progress)
        )
    }

    /// Posts a multipart form, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become parts of the form.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - block: Appends parts to the form, at once.
    ///   - progress: Receives how much of the form was sent.
    @discardableResult
    public func post(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        constructingBodyWith block: @escaping (any MultipartFormData) -> Void,
        progress: ProgressHandler? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(
            Call("POST", urlString: urlString, parameters: parameters, headers: headers, form: block, upload: progress)
        )
    }

    /// Posts parameters and takes the response as a value.
    ///
    /// - Parameters:
    ///   - urlString: Resolved against ``baseURL``.
    ///   - parameters: Become the body.
    ///   - headers: Replace fields that the request serializer has set.
    ///   - type: What to decode.
    ///   - decoder: Decodes it.
    public func post<Value: Decodable>(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        decode type: Value.Type,
        with decoder: JSONDecoder = JSONDecoder()
    ) async throws(RequestFailure) -> Value {
        try await perform(
            Call("POST", urlString: urlString, parameters: parameters, headers: headers),
            decoding: type,
            decoder: decoder
        ).value
    }

    /// Puts parameters.
    @discardableResult
    public func put(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(Call("PUT", urlString: urlString, parameters: parameters, headers: headers))
    }

    /// Puts parameters and takes the response as a value.
    public func put<Value: Decodable>(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        decode type: Value.Type,
        with decoder: JSONDecoder = JSONDecoder()
    ) async throws(RequestFailure) -> Value {
        try await perform(
            Call("PUT", urlString: urlString, parameters: parameters, headers: headers),
            decoding: type,
            decoder: decoder
        ).value
    }

    /// Patches with parameters.
    @discardableResult
    public func patch(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(Call("PATCH", urlString: urlString, parameters: parameters, headers: headers))
    }

    /// Patches with parameters and takes the response as a value.
    public func patch<Value: Decodable>(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil,
        decode type: Value.Type,
        with decoder: JSONDecoder = JSONDecoder()
    ) async throws(RequestFailure) -> Value {
        try await perform(
            Call("PATCH", urlString: urlString, parameters: parameters, headers: headers),
            decoding: type,
            decoder: decoder
        ).value
    }

    /// Deletes.
    @discardableResult
    public func delete(
        _ urlString: String,
        parameters: Any? = nil,
        headers: [String: String]? = nil
    ) async throws(RequestFailure) -> SerializedResponse {
        try await perform(Call("DELETE", urlString: urlString, parameters: parameters, headers: headers))
    }

    // MARK: - Performing

    /// Decodes where the caller is: the conformance of a type may be on the caller's actor. The serializer only checks
    /// the response.
    func perform<Value: Decodable>(
        _ call: Call,
        decoding type: Value.Type,
        decoder: JSONDecoder
    ) async throws(RequestFailure) -> (value: Value, response: URLResponse?) {
        let own = responseSerializer
        let serializer = HTTPResponseSerializer(
            // The statuses that a wrapped serializer accepts are unknown: take those of a new serializer.
            acceptableStatusCodes: own is AdaptedResponseSerializer
                ? HTTPResponseSerializer.usualStatusCodes : own.acceptableStatusCodes,
            // Of other serializers the types are not those of JSON.
            acceptableContentTypes: own is JSONResponseSerializer
                ? own.acceptableContentTypes : decoder.acceptableContentTypes
        )
        let (outcome, _) = try await outcome(of: call, by: serializer)
        let response = outcome.response
        guard let body = outcome.object as? Data else {
            throw outcome.error.map { RequestFailure($0, response: response) } ?? Self.noBody(of: response, for: type)
        }
        // The serializer has validated the response when the task ended.
        let problem = outcome.error as NSError?
        let (object, error) = collectingError {
            serializer.object(in: body, of: response, isValid: problem == nil, problem: problem, error: $0) { body in
                try BodyDecoding.object(in: body) { try BodyDecoding<Value>.value(in: $0, by: decoder) }
            }
        }
        if let error { throw RequestFailure(error, response: response, object: object) }
        // Not by way of an optional: to look up its type takes longer than the cast.
        switch object {
        case let value as Value: return (value, response)
        default: throw Self.noBody(of: response, for: type)
        }
    }

    private static func noBody<Value>(of response: URLResponse?, for type: Value.Type) -> RequestFailure {
        var details = [NSLocalizedDescriptionKey: "The response has no body; a \(type) was asked for."]
        details[NSLocalizedFailureReasonErrorKey] = ResponseSummary(response, body: Data())?.text
        return RequestFailure(URLError(.zeroByteResource, userInfo: details), response: response, kind: .decoding)
    }

    private func perform(_ call: Call) async throws(RequestFailure) -> SerializedResponse {
        let (outcome, task) = try await outcome(of: call)
        if let error = outcome.error { throw RequestFailure(error, response: outcome.response, object: outcome.object) }
        let response = outcome.response as? HTTPURLResponse
        return SerializedResponse(object: outcome.object, response: response, task: outcome.task ?? task)
    }

    private func outcome(
        of call: Call,
        by serializer: (any URLResponseSerialization)? = nil
    ) async throws(RequestFailure) -> (VerbOutcome, URLSessionDataTask) {
        let request: URLRequest
        do {
            request = try self.request(for: call)
        } catch {
            throw RequestFailure(error, kind: .request)
        }
        let end = Awaited<@Sendable () -> VerbOutcome>()
        let options = TaskRecord.Options(serializer: serializer, isAwaited: true)
        let task = makeTask(call, for: request, completion: .awaited(end), options: options)
        let record = record(of: task)
        // Resume inside the cancellation handler: a Swift task that is already cancelled sends nothing.
        let makeOutcome = await withTaskCancellationHandler {
            task.resume()
            return await end.value
        } onCancel: {
            // The data task may have become a download by then, which the record cancels.
            record?.cancel(task)
            task.cancel()
        }
        return (makeOutcome(), task)
    }
}
