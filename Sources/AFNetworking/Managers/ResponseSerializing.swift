/// What makes objects of responses with a serializer: ``URLSessionManager``.
///
/// The property is here, and not in the class, so that a subclass can have it with a narrower type:
/// ``HTTPSessionManager/responseSerializer`` is an ``HTTPResponseSerializer``.
public protocol ResponseSerializing: AnyObject {}

extension ResponseSerializing where Self: URLSessionManager {
    /// Makes objects of responses: JSON, unless set. What is set when a task completes counts, not what was when it was
    /// made.
    ///
    /// A ``HTTPSessionManager`` puts a serializer that is no ``HTTPResponseSerializer`` into one.
    public var responseSerializer: any URLResponseSerialization {
        get { serializer }
        set { serializer = newValue }
    }
}
