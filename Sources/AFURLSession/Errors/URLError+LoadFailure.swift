public import Foundation

extension URLError {
    /// The detailed cause of a failure of this package; nil for errors from elsewhere.
    ///
    /// The same value stands in `userInfo` under `NSUnderlyingErrorKey`, or in that of the error that stands there: the error
    /// of a manager or an operation about a server has beneath it what the session says.
    public var loadFailure: LoadFailure? { .beneath(self) }
}

extension LoadFailure {
    /// The failure that an error is, or that lies beneath it.
    package static func beneath(_ error: any Error) -> LoadFailure? {
        var error: (any Error)? = error
        // No chain is that long unless a program made it so.
        for _ in 0..<32 {
            guard let current = error else { return nil }
            if let failure = current as? LoadFailure { return failure }
            error = (current as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        }
        return nil
    }
}
