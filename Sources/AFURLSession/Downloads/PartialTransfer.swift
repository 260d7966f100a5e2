/// A transfer that goes on where an earlier one broke off, for programs that keep the bytes themselves. It has the rules
/// of resumed downloads (``URLSessionDownloadTask``, which does all this by itself).
public struct PartialTransfer: Hashable, Sendable {
    /// How many bytes are there.
    public let offset: Int64
    /// What the resource is recognized by: a strong entity tag, or its date. Nil if that is not known: then a server
    /// whose resource has changed meanwhile sends the rest of another one, and nothing tells.
    public var validator: String? { known?.fieldValue }

    private let known: ResumeValidator?

    /// Goes on behind the first bytes.
    ///
    /// - Parameters:
    ///   - offset: How many bytes are there.
    ///   - validator: What ``validator(of:to:)`` said of the response they came with. Anything that is neither a strong
    ///     entity tag nor a date is as nil.
    public init(offset: Int64, validator: String? = nil) {
        self.offset = offset
        known = validator.flatMap { ResumeValidator(fieldValue: $0) }
    }

    /// What the resource of a response can be recognized by later, to be kept with its bytes. Nil if a transfer of it
    /// cannot go on: unless the response is the whole of something, as it is, with a strong entity tag, or a date that
    /// is older than the answer (RFC 9110 §8.8.2.2).
    public static func validator(of response: HTTPURLResponse, to request: URLRequest) -> String? {
        ResumePoint(response, to: request)?.validator.fieldValue
    }

    /// Asks for the rest: `Range`, and `If-Range` if there is a validator (RFC 9110 §13.1.5, §14.2).
    public func prepare(_ request: inout URLRequest) {
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        if let validator { request.setValue(validator, forHTTPHeaderField: "If-Range") }
    }

    /// What a response to the prepared request means.
    public enum Answer: Hashable, Sendable {
        /// Its body belongs behind what is there.
        case rest
        /// Nothing is missing.
        case complete
        /// Anything else: the whole, an error, another part, or a part of another resource. What is there cannot be
        /// continued with it.
        case refused
    }

    /// What a response to the prepared request means, without benefit of the doubt.
    public func answer(_ response: HTTPURLResponse) -> Answer {
        let answer = ResumeAnswer.judge(
            response.statusCode,
            response.headers,
            length: response.expectedContentLength,
            at: offset,
            of: nil,
            known
        )
        switch answer {
        case .rest: return .rest
        case .complete: return .complete
        case .whole, .other, .unusable: return .refused
        }
    }
}
