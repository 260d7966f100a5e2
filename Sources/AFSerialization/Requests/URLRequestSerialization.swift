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

extension URLRequestSerialization {
    /// A copy of `request` with `parameters` in it, or the error.
    public func request(bySerializing request: URLRequest, withParameters parameters: Any?) throws -> URLRequest {
        let (made, error) = collectingError {
            self.request(bySerializing: request, withParameters: parameters, error: $0)
        }
        if let made { return made }
        throw error.map(CarriedError.unpacked)
            ?? RequestError.make(.unknown, reason: "The serializer gave neither a request nor an error.")
    }

    /// What `make` returns, or nil and its error where `error` points.
    package func reporting(to error: NSErrorPointer, make: () throws -> URLRequest) -> URLRequest? {
        do {
            return try make()
        } catch let failure {
            error?.pointee = CarriedError.make(failure)
            return nil
        }
    }
}
