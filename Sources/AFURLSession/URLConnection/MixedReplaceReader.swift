import AFTransport
import AFWire
import Foundation

/// Turns one response with a `multipart/x-mixed-replace` body into a response for each part.
struct MixedReplaceReader: Sendable {
    private let response: HTTPURLResponse
    private let url: URL
    private var parser: MixedReplaceParser

    /// Nil for responses of other types, and for those without a boundary.
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, let url = response.url,
            response.mimeType == "multipart/x-mixed-replace",
            let type = response.headers.firstBytes("Content-Type").flatMap({ $0.withUnsafeBytes { MediaType($0) } }),
            let boundary = type.parameters.first(where: { $0.name == "boundary" })?.value,
            let parser = MixedReplaceParser(boundary: boundary)
        else { return nil }
        self.response = response
        self.url = url
        self.parser = parser
    }

    /// The delegate's events for bytes of the body. A failure comes last.
    mutating func receive(_ data: Data) -> [ConnectionEvent] {
        do throws(MixedReplaceParser.Failure) {
            return try parser.receive(data).map(event)
        } catch {
            switch error {
            case .headTooLong:
                return fail("the head of a part is longer than \(MixedReplaceParser.longestHead) bytes")
            case .malformedHead: return fail("the head of a part is malformed")
            }
        }
    }

    mutating func finish() -> Data? { parser.finish() }

    private func event(_ piece: MixedReplaceParser.Piece) -> ConnectionEvent {
        switch piece {
        case .head(let headers): .response(part(headers))
        case .body(let data): .data(data)
        }
    }

    private func fail(_ explanation: String) -> [ConnectionEvent] {
        [.failed(LoadFailure.badPart(explanation, url))]
    }

    /// The response of a part: with the fields of the part, and the status and version of the whole.
    private func part(_ headers: HTTPHeaders) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url,
            status: response.statusCode,
            version: response.version,
            headers: headers,
            decodes: false
        )
    }
}
