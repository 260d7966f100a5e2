public import Foundation

extension URLError {
    /// The detailed cause of a failure of this module; nil for errors from elsewhere.
    ///
    /// The same value stands in `userInfo` under `NSUnderlyingErrorKey`.
    public var loadFailure: LoadFailure? {
        userInfo[NSUnderlyingErrorKey] as? LoadFailure
    }
}
