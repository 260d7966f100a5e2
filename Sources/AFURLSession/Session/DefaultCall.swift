/// The call by which the session asks a delegate that lacks the method with a completion handler.
///
/// That method's default implementation calls the `async` method. If the delegate lacks that one too, its default
/// implementation sees the call that it is part of, and reports that the delegate has no method. A delegate's own method
/// may call the same default implementation: then there is no such call, and the session goes on asking the delegate.
struct DefaultCall: Sendable {
    @TaskLocal private static var current: DefaultCall?

    private let method: OptionalMethod
    private let delegate: ObjectIdentifier

    /// Calls the `async` method in place of the one that the delegate lacks.
    static func of(_ method: OptionalMethod, on delegate: AnyObject, body: () -> Task<Void, Never>) {
        $current.withValue(DefaultCall(method: method, delegate: ObjectIdentifier(delegate))) { _ = body() }
    }

    /// Whether the delegate lacks the method in both forms.
    static func hasReached(_ method: OptionalMethod, of delegate: AnyObject) -> Bool {
        current?.method == method && current?.delegate == ObjectIdentifier(delegate)
    }
}
