extension URLRequest {
    var form: MultipartBodyStream? { httpBodyStream as? MultipartBodyStream }
    var copiedForm: MultipartBodyStream? { formCopy as? MultipartBodyStream }
    /// The form as it is sent, with `B` in place of the boundary.
    var formText: String {
        guard let stream = copiedForm else { return "" }
        return String(decoding: stream.readOnce(), as: UTF8.self).replacingOccurrences(of: stream.boundary, with: "B")
    }
}

extension HTTPRequestSerializer {
    func formFailure(_ build: @escaping (any MultipartFormData) throws -> Void) -> NSError? {
        do {
            _ = try form(nil, build)
            return nil
        } catch {
            return error as NSError
        }
    }
}
