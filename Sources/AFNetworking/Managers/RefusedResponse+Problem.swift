public import AFSerialization
public import AFURLSession

extension RefusedResponse {
    /// What the server says about the refusal, if the body is a problem by RFC 9457.
    public var problem: ProblemDetails? { ProblemDetails(response, body: body) }
}
