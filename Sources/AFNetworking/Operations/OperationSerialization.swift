import Foundation

/// What a ``HTTPRequestOperation`` knows of the object that its serializer makes of the response.
struct OperationSerialization {
    private var given: HTTPResponseSerializer?
    var result: SerializedObject?
    /// Counts changes of the serializer: an object of a former one is not kept.
    private(set) var version = 0
    /// The response whose first part had arrived before a pause.
    var firstPart: HTTPURLResponse?

    /// A default one is made when it is first asked for: most operations get their manager's.
    var serializer: HTTPResponseSerializer {
        mutating get {
            let serializer = given ?? HTTPResponseSerializer()
            given = serializer
            return serializer
        }
    }

    mutating func begin(with serializer: HTTPResponseSerializer) {
        given = serializer
        result = nil
        version += 1
    }
}

/// What a serializer has made of the response of an operation.
final class SerializedObject {
    let object: Any?
    let error: (any Error)?

    init(_ object: Any?, _ error: (any Error)?) {
        self.object = object
        self.error = error
    }
}
