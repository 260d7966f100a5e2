package import Foundation

/// Describes a refused response in an error: its URL, status and type, and how its body begins. One short line, without
/// credentials and secret query items.
package struct ResponseSummary {
    /// How much of a body is shown.
    private static let shownBytes = 64

    private let response: URLResponse
    private let body: Data?

    /// Nil if nothing is known of the response.
    package init?(_ response: URLResponse?, body: Data?) {
        guard let response else { return nil }
        self.response = response
        self.body = body
    }

    package var text: String {
        let place = response.url.map { " from \(SecretNames.masked($0))" } ?? ""
        let status = (response as? HTTPURLResponse).map { "the status \($0.statusCode) and " } ?? ""
        let type = response.mimeType.map { "the type \($0.asPeerText)" } ?? "no type"
        return "The response\(place) has \(status)\(type)." + (body.map { " " + Self.beginning(of: $0) } ?? "")
    }

    private static func beginning(of body: Data) -> String {
        guard !body.isEmpty else { return "Its body is empty." }
        let shown = body.prefix(shownBytes).asPeerText
        return body.count > shownBytes
            ? "Its body of \(body.count) bytes begins with \"\(shown)\"." : "Its body is \"\(shown)\"."
    }
}
