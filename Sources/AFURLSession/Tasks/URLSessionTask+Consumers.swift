import Foundation

extension URLSessionTask {
    /// Where the response goes: to the handler, or to the delegate if there is none.
    static func consumer(isAwaited: Bool, _ completion: DataCompletion?) -> sending any TaskConsumer {
        if let completion { CompletionConsumer(isAwaited: isAwaited, completion) } else { DelegateConsumer() }
    }
}
