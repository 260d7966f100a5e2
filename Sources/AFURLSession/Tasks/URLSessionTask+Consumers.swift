import Foundation

extension URLSessionTask {
    /// Where the response goes: to the handler, or to the delegate if there is none.
    static func consumer(isAwaited: Bool, completion: DataCompletion?) -> sending any TaskConsumer {
        if let completion { CompletionConsumer(isAwaited: isAwaited, handler: completion) } else { DelegateConsumer() }
    }
}
