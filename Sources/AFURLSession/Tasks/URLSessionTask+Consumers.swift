import AFLoop
import Foundation

extension URLSessionTask {
    /// A task whose body goes to a completion handler; to the delegate if there is none.
    convenience init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        body: TaskBody = .request,
        isAwaited: Bool,
        _ completion: DataCompletion?
    ) {
        if let completion {
            let consumer = CompletionConsumer(isAwaited: isAwaited, completion)
            self.init(request, identifier, in: session, body: body, consumer: consumer, completion)
        } else {
            self.init(request, identifier, in: session, body: body, consumer: DelegateConsumer(), nil)
        }
    }
}
