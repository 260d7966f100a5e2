public import Foundation

/// What a server says about a failure in the body of a response, as `application/problem+json` (RFC 9457).
///
/// It is the server's claim, for people and for programs that know the ``type``. The status that counts is that of the
/// response, whatever ``status`` says.
public struct ProblemDetails: Sendable, Hashable {
    /// The longest body that is read, in bytes. 64 KiB.
    public static let bodyLimit = 64 << 10

    /// Which kind of problem it is: a URL that identifies it, resolved against that of the response. `about:blank` if the
    /// status says all.
    public let type: String
    /// The kind of problem, for people.
    public let title: String?
    /// The status that the server meant to send.
    public let status: Int?
    /// This very problem, for people.
    public let detail: String?
    /// A URL that identifies this very problem.
    public let instance: String?
    private let json: Data

    /// Reads a body. Nil unless `response` says that the body is a problem, and it is an object in JSON within
    /// ``bodyLimit``. A member of another type than the standard's is nil.
    public init?(_ response: HTTPURLResponse, body: Data) {
        guard Self.isExpected(in: response), body.count <= Self.bodyLimit,
            let text = try? JSONText(body, deepest: JSONText.deepestDecodableLevel),
            let members = try? JSONDecoder().decode(Members.self, from: text.data)
        else { return nil }
        func resolved(_ reference: String?) -> String? {
            reference.flatMap { URL(string: $0, relativeTo: response.url)?.absoluteString }
        }
        type = resolved(members.type) ?? "about:blank"
        (title, status, detail) = (members.title, members.status, members.detail)
        instance = resolved(members.instance)
        json = text.data
    }

    /// Whether the response says that its body is a problem.
    package static func isExpected(in response: HTTPURLResponse) -> Bool {
        response.mimeType == "application/problem+json"
    }

    /// The members that a program knows of this ``type``, beside those of the standard.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: json)
    }

    /// Title and detail for an error or a log: in quotation marks, printable, and cut where they are long. Nil without
    /// either.
    package var words: String? {
        let words = [title, detail].compactMap { $0 }.filter { !$0.isEmpty }.map(\.asPeerText)
        return words.isEmpty ? nil : "\"\(words.joined(separator: ": "))\""
    }

    /// RFC 9457 §3.1: what is of another type is ignored.
    private struct Members: Decodable {
        let type: String?
        let title: String?
        let status: Int?
        let detail: String?
        let instance: String?

        private enum CodingKeys: CodingKey { case type, title, status, detail, instance }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            type = try? members.decode(String.self, forKey: .type)
            title = try? members.decode(String.self, forKey: .title)
            status = try? members.decode(Int.self, forKey: .status)
            detail = try? members.decode(String.self, forKey: .detail)
            instance = try? members.decode(String.self, forKey: .instance)
        }
    }
}
