public import Foundation

extension HTTPRequestSerializer {
    /// Makes queries with a function that throws.
    ///
    /// - Parameter makeQuery: Gets the request, without header fields of the serializer, and the parameters.
    public func setQueryStringSerialization(
        _ makeQuery: @escaping @Sendable (_ request: URLRequest, _ parameters: Any) throws -> String
    ) {
        setQueryStringSerializationWith { request, parameters, error in
            do {
                return try makeQuery(request, parameters)
            } catch let failure {
                error?.pointee = CarriedError.make(failure)
                return nil
            }
        }
    }

    /// Writes the body stream of a request to a file, to be uploaded from there.
    ///
    /// As ``request(withMultipartForm:writingStreamContentsToFile:completionHandler:)``, but returns when the file is
    /// complete, and needs no main queue. When the Swift task is cancelled, so is this, and the file is removed.
    public func request(
        withMultipartForm request: URLRequest,
        writingStreamContentsToFile fileURL: URL
    ) async throws -> URLRequest {
        try await MultipartFile(request, at: fileURL).write()
        return request.withoutBodyStream
    }
}
