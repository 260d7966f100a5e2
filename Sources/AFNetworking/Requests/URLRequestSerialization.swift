public import Foundation

/// Puts parameters into requests.
///
/// Called on the thread that makes the request. One serializer may be used from several threads at once.
public protocol URLRequestSerialization: NSObjectProtocol, NSCopying, NSSecureCoding, Sendable {
    /// A copy of `request` with `parameters` in it, or nil and an error.
    ///
    /// - Parameters:
    ///   - request: What to begin with.
    ///   - parameters: What to put into it; which kinds of values are possible depends on the serializer.
    ///   - error: Receives what went wrong.
    func request(
        bySerializing request: URLRequest,
        withParameters parameters: Any?,
        error: NSErrorPointer
    ) -> URLRequest?
}
