public import Foundation

extension HTTPResponseSerializer {
    /// What is wrong with status or content type of a response; nil if nothing is that could be told.
    ///
    /// For a response whose body is not to be read, as that of a download, pass nil or no bytes.
    public func validationError(for response: URLResponse?, data: Data?) -> (any Error)? {
        collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }.error
    }

    /// Checks status and content type of a response.
    ///
    /// - Returns: Whether they are acceptable. False is what remains for a wrong content type of an empty body.
    /// - Throws: What is wrong.
    @discardableResult
    public func validate(_ response: HTTPURLResponse?, data: Data?) throws -> Bool {
        let (accepted, error) = collectingError { validate(response, data: data, error: $0) }
        if let error { throw error }
        return accepted
    }

    /// What all serializers of content do: nothing is made of a response without an acceptable content type; anything
    /// else is decoded, and an unacceptable status is an error beside the object.
    ///
    /// - Parameters:
    ///   - response: The response, which is validated.
    ///   - data: Its body.
    ///   - error: Where the caller wants errors; without it a response that is not valid has no object.
    ///   - decode: Makes the object; its error goes before that of the status, which is then beneath it, and says where the
    ///     response comes from and how its body begins.
    public func serializeContent(
        of response: URLResponse?,
        data: Data?,
        error: NSErrorPointer,
        decode: (Data) throws -> Any?
    ) -> Any? {
        let (accepted, problem) = collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }
        if let problem { error?.pointee = problem }
        if !accepted && (error == nil || problem.map(Self.isAboutContentType) == true) { return nil }
        do {
            return try decode(data ?? Data())
        } catch let failure {
            let told = (failure as NSError).naming(response, data)
            error?.pointee = NSError.composing(told, underlying: problem)
            return nil
        }
    }

    private static func isAboutContentType(_ error: NSError) -> Bool {
        error.hasOrCovers(code: NSURLErrorCannotDecodeContentData, domain: URLResponseSerializationErrorDomain)
    }
}
