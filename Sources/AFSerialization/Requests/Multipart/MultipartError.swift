import Foundation

/// Errors about the parts of a form.
enum MultipartError {
    // MARK: - While it is made

    static var notAFileURL: NSError {
        RequestError.make(.badURL, reason: "Expected URL to be a file URL", advice: "Use URL(fileURLWithPath:).")
    }

    static func notReachable(_ path: String) -> NSError {
        RequestError.make(
            .badURL,
            reason: "File URL not reachable.",
            advice: "Check whether \(path.asPeerText) exists."
        )
    }

    static func notRegular(_ path: String) -> NSError {
        RequestError.make(
            .badURL,
            reason: "The URL is not that of a regular file.",
            advice: "Append what is in \(path.asPeerText) as a stream."
        )
    }

    static func negativeLength(of name: String) -> NSError {
        RequestError.make(
            .badURL,
            reason: "The length of the part \"\(MultipartHead.quotable(name))\" is negative.",
            advice: "Say how many bytes its stream has."
        )
    }

    static var tooLong: NSError {
        RequestError.make(
            .dataLengthExceedsMaximum,
            reason: "The length of the form is larger than any number can hold."
        )
    }

    static func headerName(_ name: String) -> NSError {
        RequestError.make(
            .badURL,
            reason: "The name \"\(MultipartHead.quotable(name))\" of a header field of a part is no token.",
            advice: "Use letters, digits and hyphens."
        )
    }

    static func headerValue(of name: String) -> NSError {
        RequestError.make(
            .badURL,
            reason: "The header field \(name) of a part has a line break or another control character.",
            advice: "Remove it."
        )
    }

    /// For a request without a stream, or with one that was read.
    static var noStream: NSError {
        RequestError.make(
            .requestBodyStreamExhausted,
            reason: "It has no body stream that can be read.",
            advice: "Give it one that is new."
        )
    }

    // MARK: - While it is read

    private static func reading(_ what: String, advice: String, underlying: (any Error)? = nil) -> NSError {
        let cause = underlying.map { ": \($0.localizedDescription)" } ?? "."
        let error = RequestError.make(
            .requestBodyStreamExhausted,
            reason: what + cause,
            advice: advice,
            underlying: underlying
        )
        // The description does not say that the request could not be made.
        let userInfo = error.userInfo.merging([NSLocalizedDescriptionKey: "\(what)\(cause) \(advice)"]) { $1 }
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    static func unreadable(_ part: MultipartPart, cause: (any Error)?) -> NSError {
        reading("Reading \(part.description) failed", advice: "Look at its file or stream.", underlying: cause)
    }

    static func streamIsUsed(_ part: MultipartPart) -> NSError {
        reading(
            "The form has to be sent again, and the stream of \(part.description) cannot be read twice",
            advice: "Append a file or data instead."
        )
    }

    static func length(of part: MultipartPart, found: Int64, isAtEnd: Bool) -> NSError {
        reading(
            "\(part.length) bytes were announced for \(part.description), but there are "
                + "\(isAtEnd ? "only" : "at least") \(found)",
            advice: "Say how many bytes its stream has; a file must stay as it is while it is sent."
        )
    }

    static func changed(_ part: MultipartPart) -> NSError {
        reading(
            "The file of \(part.description) was changed while it was sent",
            advice: "Leave it as it is until the request is done, or send a copy."
        )
    }
}
