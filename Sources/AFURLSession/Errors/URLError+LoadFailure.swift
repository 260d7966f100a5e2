public import Foundation

extension URLError {
    /// The detailed cause of a failure of this package; nil for errors from elsewhere.
    ///
    /// `userInfo` has the same value under `NSUnderlyingErrorKey`. If that key has another error, for example the
    /// session's error beneath that of a manager, the value is in the `userInfo` of that error.
    public var loadFailure: LoadFailure? { .beneath(self) }
}

extension LoadFailure {
    /// The failure that an error is, or that lies beneath it.
    package static func beneath(_ error: any Error) -> LoadFailure? {
        var error: (any Error)? = error
        // A chain of errors is not longer unless a program made it so.
        for _ in 0..<32 {
            guard let current = error else { return nil }
            if let failure = current as? LoadFailure { return failure }
            error = (current as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        }
        return nil
    }
}
