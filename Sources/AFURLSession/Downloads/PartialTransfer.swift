/// A transfer that resumes an earlier one, for programs that keep the bytes themselves. It follows the rules of resumed
/// downloads (``URLSessionDownloadTask`` does all this by itself).
public struct PartialTransfer: Hashable, Sendable {
    /// How many bytes the program has.
    public let offset: Int64
    /// What identifies the resource: a strong entity tag, or its date. Nil if that is not known: if the resource has
    /// changed meanwhile, the server then sends the rest of another one, and nothing shows it.
    public var validator: String? { known?.fieldValue }

    private let known: ResumeValidator?

    /// Resumes a transfer behind the first bytes.
    ///
    /// - Parameters:
    ///   - offset: How many bytes the program has.
    ///   - validator: The result of ``validator(of:to:)`` for the response they came with. A value that is neither a
    ///     strong entity tag nor a date counts as nil.
    public init(offset: Int64, validator: String? = nil) {
        self.offset = offset
        known = validator.flatMap { ResumeValidator(fieldValue: $0) }
    }

    /// What identifies the resource of a response later; keep it with the bytes. Nil if a transfer of the response
    /// cannot be resumed: it must be the whole of a resource, without content coding, with a strong entity tag, or with
    /// a date that is older than the response (RFC 9110 §8.8.2.2).
    public static func validator(of response: HTTPURLResponse, to request: URLRequest) -> String? {
        ResumePoint(response, to: request)?.validator.fieldValue
    }

    /// Adds the fields that ask for the rest: `Range`, and `If-Range` if there is a validator (RFC 9110 §13.1.5,
    /// §14.2).
    public func prepare(_ request: inout URLRequest) {
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        if let validator { request.setValue(validator, forHTTPHeaderField: "If-Range") }
    }

    /// The meaning of a response to the prepared request.
    @nonexhaustive
    public enum Answer: Hashable, Sendable {
        /// The body belongs behind the bytes that the program has, which are this many with it. Drop a body that turns
        /// out to be longer or shorter: it is not the rest.
        case rest(upTo: Int64)
        /// The program has all bytes already.
        case complete
        /// Any other response: the whole, an error, another part, or a part of another resource. It cannot continue the
        /// bytes that the program has.
        case refused
    }

    /// The meaning of a response to the prepared request. In doubt it is refused.
    public func answer(_ response: HTTPURLResponse) -> Answer {
        let answer = ResumeAnswer.judge(
            response.statusCode,
            headers: response.headers,
            length: response.expectedContentLength,
            at: offset,
            of: nil,
            validator: known
        )
        switch answer {
        case .rest(let end, _): return .rest(upTo: end)
        case .complete: return .complete
        case .whole, .other, .unusable: return .refused
        }
    }
}
