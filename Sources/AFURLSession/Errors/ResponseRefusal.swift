/// Why a stream does not take a response.
package struct ResponseRefusal: Error, Sendable {
    /// What the stream reads.
    package enum Content: Sendable {
        case events
        case jsonLines
        /// A download in parts.
        case file
    }

    package enum Cause: Sendable, Equatable {
        case status
        case contentType(String)
    }

    package let content: Content
    package let cause: Cause
    package let refused: RefusedResponse

    package init(_ refused: RefusedResponse, cause: Cause, for content: Content) {
        self.refused = refused
        self.cause = cause
        self.content = content
    }
}
