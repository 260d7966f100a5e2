import Foundation

// As its superclass; what it adds does not change.
/// Any serializer as an ``HTTPResponseSerializer``, for a manager that has only those.
///
/// It accepts every status and content type, so that the other serializer decides; what is set here counts before that.
final class AdaptedResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    let adapted: any URLResponseSerialization

    init(_ adapted: any URLResponseSerialization) {
        self.adapted = adapted
        super.init()
        acceptableStatusCodes = nil
    }

    required init() {
        adapted = HTTPResponseSerializer()
        super.init()
    }

    override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let (accepted, problem) = collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }
        guard accepted else {
            if let problem { error?.pointee = problem }
            return nil
        }
        return adapted.responseObject(for: response, data: data, error: error)
    }

    // MARK: - Copying and coding

    override func copy(with zone: NSZone? = nil) -> Any {
        guard let adapted = adapted.copy(with: zone) as? any URLResponseSerialization else { return self }
        let copy = AdaptedResponseSerializer(adapted)
        copy.acceptableStatusCodes = acceptableStatusCodes
        copy.acceptableContentTypes = acceptableContentTypes
        return copy
    }

    /// Nil: Foundation ends the process when it comes upon a class that it cannot find, and any may be adapted.
    required init?(coder: NSCoder) { nil }
}
