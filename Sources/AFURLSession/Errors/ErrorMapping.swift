package import Foundation

/// Turns failures into public errors. No other code does.
package enum ErrorMapping {
    /// The error that a task reports: Apple's code, the failing URL without user name and password, what happened and
    /// what to change in words, and the whole cause.
    package static func error(_ failure: LoadFailure, url: URL?) -> URLError {
        var details: [String: Any] = [
            NSLocalizedDescriptionKey: description(of: failure),
            NSLocalizedFailureReasonErrorKey: failure.occurrence,
            NSUnderlyingErrorKey: failure,
        ]
        details[NSLocalizedRecoverySuggestionErrorKey] = failure.advice
        if let text = url?.textWithoutUserInfo {
            details[failingURLStringKey] = text
            details[NSURLErrorFailingURLErrorKey] = URL(string: text)
        }
        return URLError(reporting: failure.kind.code, details: details)
    }

    /// Apple's word for a plain cancellation: programs compare the text with it and then show no message.
    private static func description(of failure: LoadFailure) -> String {
        failure.kind == .cancelled ? "cancelled" : failure.message
    }

    /// The value of `NSURLErrorFailingURLStringErrorKey`, which is still read although it is deprecated.
    package static let failingURLStringKey = "NSErrorFailingURLStringKey"
}
