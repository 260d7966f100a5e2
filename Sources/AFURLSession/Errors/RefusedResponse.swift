public import Foundation

/// A response that a stream of events or lines does not take, and what the server says in its body.
///
/// ```swift
/// do {
///     for try await event in session.events(for: question) { show(event.data) }
/// } catch let error as URLError {
///     guard let refused = error.refusedResponse else { throw error }
///     if refused.response.statusCode == 429 { show(refused.text) }
///     throw try refused.decode(Problem.self)
/// }
/// ```
public struct RefusedResponse: Sendable, Hashable {
    /// The most of a body that is kept, in bytes. 64 KiB.
    public static let bodyLimit = 64 << 10

    /// Status and fields.
    public let response: HTTPURLResponse

    /// The body, or the beginning of it: what arrived within two seconds, up to ``bodyLimit``.
    public let body: Data

    /// Whether ``body`` has the whole body.
    public let isComplete: Bool

    package init(response: HTTPURLResponse, body: Data, isComplete: Bool) {
        self.response = response
        self.body = body
        self.isComplete = isComplete
    }

    /// The body as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The value that the body encodes, as JSON unless another decoder is given.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}

extension URLError {
    /// The response that a stream of events or lines did not take; nil for other errors.
    public var refusedResponse: RefusedResponse? { loadFailure?.refusedResponse }
}
