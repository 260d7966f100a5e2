package import Foundation

// Unchecked as its superclass; adds a constant.
/// Wraps any serializer as an ``HTTPResponseSerializer``, for a manager that takes only those.
///
/// Accepts every status and content type, so that the wrapped serializer decides; what is set here is checked first.
package final class AdaptedResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    package let adapted: any URLResponseSerialization

    package init(_ adapted: any URLResponseSerialization) {
        self.adapted = adapted
        super.init()
        acceptableStatusCodes = nil
    }

    package required init() {
        adapted = HTTPResponseSerializer()
        super.init()
    }

    package override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let (accepted, problem) = collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }
        guard accepted else {
            if let problem { error?.pointee = problem }
            return nil
        }
        return adapted.responseObject(for: response, data: data, error: error)
    }

    // MARK: - Copying and coding

    package override func copy(with zone: NSZone? = nil) -> Any {
        guard let adapted = adapted.copy(with: zone) as? any URLResponseSerialization else { return self }
        let copy = AdaptedResponseSerializer(adapted)
        copy.acceptableStatusCodes = acceptableStatusCodes
        copy.acceptableContentTypes = acceptableContentTypes
        return copy
    }

    /// Nil: any class may be wrapped, and Foundation ends the process at a class that it cannot find.
    package required init?(coder: NSCoder) { nil }
}
