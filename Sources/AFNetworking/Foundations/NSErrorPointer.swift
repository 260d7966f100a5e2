public import Foundation

/// Where an error is put, as on Apple's platforms: pass `&error` of a variable of type `NSError?`, or nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Calls a function that hands out an error beside its result, with the error as a value.
func collectingError<Result>(_ body: (NSErrorPointer) -> Result) -> (result: Result, error: NSError?) {
    var error: NSError?
    let result = withUnsafeMutablePointer(to: &error) { body($0) }
    return (result, error)
}

// Unchecked: NSError is open, so not checked; a constant is added.
/// An error of Swift's on its way through a pointer to an `NSError`, to be thrown as what it was.
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

    /// Errors that are `NSError`s stay what they are.
    static func make(_ error: any Error) -> NSError {
        type(of: error) is NSError.Type ? error as NSError : CarriedError(carrying: error)
    }

    static func unpacked(_ error: NSError) -> any Error {
        (error as? CarriedError)?.error ?? error
    }
}
