import Foundation

extension URLRequestSerialization {
    /// A copy of `request` with `parameters` in it, or the error.
    public func request(bySerializing request: URLRequest, withParameters parameters: Any?) throws -> URLRequest {
        let (made, error) = collectingError {
            self.request(bySerializing: request, withParameters: parameters, error: $0)
        }
        if let made { return made }
        throw error.map(CarriedError.unpacked)
            ?? RequestError.make(.unknown, "The serializer gave neither a request nor an error.")
    }

    /// What `make` returns, or nil and its error where `error` points.
    func reporting(to error: NSErrorPointer, _ make: () throws -> URLRequest) -> URLRequest? {
        do {
            return try make()
        } catch let failure {
            error?.pointee = CarriedError.make(failure)
            return nil
        }
    }
}
