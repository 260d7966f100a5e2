import AFBase
import AFLoop
import AFTransport
import AFWire
import Foundation

/// Lets the classes of the program load a request in place of the session.
final class ProtocolClassStep: LoadStep {
    private let classes: ProtocolClasses

    init(_ classes: ProtocolClasses) {
        self.classes = classes
    }

    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        guard !classes.all.isEmpty, let task = load.handle,
            let present = load.presentRequest
        else { return goOn(&draft, load: load) }
        if load.memory?.hasDroppedBody == true { draft.keepsBody = false }
        let request = load.requestForClasses(present, keepsBody: draft.keepsBody)
        return .offered(request) { [self] reply in
            classes.choose(for: task, request: request) { choice in
                reply { [self] draft, load in chosen(choice, draft: &draft, load: load) }
            }
        }
    }

    private func chosen(
        _ choice: ProtocolClasses.Choice?,
        draft: inout RequestDraft,
        load: any LoadView
    ) -> Preparation {
        guard let choice else { return goOn(&draft, load: load) }
        let (worker, keepsBody) = (classes.worker, draft.keepsBody)
        return .taken { load in load.memory?.foreign?.begin(choice, on: worker, keepsBody: keepsBody) }
    }

    /// No class loads the request.
    private func goOn(_ draft: inout RequestDraft, load: any LoadView) -> Preparation {
        guard let forNetwork = draft.history?.forNetwork, let memory = load.memory else { return .goOn }
        memory.hasDroppedBody = forNetwork.hasDroppedBody
        memory.request = forNetwork.request
        return .goOn
    }
}

extension LoadView {
    /// The request as a class gets it: with what the session adds to its requests, without secrets that must not go
    /// along.
    fileprivate func requestForClasses(_ request: URLRequest, keepsBody: Bool) -> URLRequest {
        var request = request
        let policy = redirectPolicy(of: request)
        for (name, value) in session.settings.additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            let staysBehind = HTTPText.isSameName(name, other: "Host") || policy.withholds(name)
            if memory?.hasLeftOrigin == true, staysBehind { continue }
            if request.withheldHeaderFields.contains(ASCII.lowered(name)) { continue }
            request.setValue(value, forHTTPHeaderField: name)
        }
        // An upload task's own body takes precedence over that of its request.
        guard keepsBody, request.httpBody == nil || request.httpBody == handle?.originalRequest?.httpBody else {
            return request
        }
        switch body {
        case .request, .streamed: break
        case .data(let data): request.httpBody = data
        case .file(let url): request.httpBodyStream = url.isFileURL ? InputStream(url: url) : nil
        }
        return request
    }
}
