import Foundation

/// A delegate without methods of its own: it answers what a session does by itself, and leaves challenges to whoever
/// would be asked next. Its standard implementations say that *it* has no methods, not that the manager has none.
final class DefaultAnswers: URLSessionDataDelegate {
    static let given = DefaultAnswers()
}
