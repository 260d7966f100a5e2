import Foundation

// Unchecked: the compiler cannot check `NSError`, which is open; this class adds a constant.
/// Carries a Swift error through an ``NSErrorPointer``, so that it can be thrown as it was.
///
/// The cast to `NSError` keeps domain and code on Linux, and loses the error itself.
final class CarriedError: NSError, @unchecked Sendable {
    let error: any Error

    private init(carrying error: any Error) {
        self.error = error
        let plain = error as NSError
        var userInfo = plain.userInfo
        userInfo[NSLocalizedDescriptionKey] = error.localizedDescription
        userInfo[NSUnderlyingErrorKey] = error
        super.init(domain: plain.domain, code: plain.code, userInfo: userInfo)
    }

    required init?(coder: NSCoder) {
        return nil
    }

    /// An `NSError` is returned as it is.
    static func make(_ error: any Error) -> NSError {
        type(of: error) is NSError.Type ? error as NSError : CarriedError(carrying: error)
    }

    static func unpacked(_ error: NSError) -> any Error {
        (error as? CarriedError)?.error ?? error
    }
}
