import AFTransport
import AFWire
import Foundation

/// Starts the task's time, puts the delegate's request in place of the task's, and lets the consumer do what it has to
/// do first. A download that resumes asks for the rest of what that request asks for.
final class ConsumerStep: LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation {
        if let request = draft.history?.replacement {
            let memory = load.memory(beginningWith: request)
            (memory.replacement, memory.request) = (DelegateRequest(request: request), request)
            load.becomes(request)
            draft.wire = load.ownWire
        }
        load.restartTime(of: draft.wire)
        switch load.consumer.prepare(for: load) {
        case .nothing: return .goOn
        // It calls `restart`.
        case .later: return .later(asking: nil) { _ in }
        case .loadsItself: return .leftToConsumer
        }
    }
}

/// The request that the delegate has given for the task's when its date had come.
struct DelegateRequest {
    let request: URLRequest
}

extension LoadMemory {
    var replacement: DelegateRequest? {
        get { self[DelegateRequest.self] }
        set { self[DelegateRequest.self] = newValue }
    }
}

extension Load {
    /// The request that the load begins with: the task's, or the one that its delegate has put in place of it.
    var ownRequest: URLRequest? { memory?.replacement?.request ?? handle?.originalRequest }

    /// The same as it is sent.
    var ownWire: OwnRequest {
        guard let request = memory?.replacement?.request, let handle else { return self.request }
        return OwnRequest(
            Result { () throws(RequestRejection) in
                try body.freeze(request, with: handle.session.headers, settings: session.settings)
            }
        )
    }
}
