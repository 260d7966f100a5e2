public import Foundation

/// Makes objects of responses.
///
/// Called on a concurrent queue, for several responses at once.
public protocol URLResponseSerialization: NSObjectProtocol, NSCopying, NSSecureCoding, Sendable {
    /// The object in a response.
    ///
    /// An object *and* an error are possible: the decoded body of a response whose status is not acceptable.
    ///
    /// - Parameters:
    ///   - response: The response; its status and content type may be checked.
    ///   - data: Its body.
    ///   - error: Receives what is wrong with it.
    func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any?
}
