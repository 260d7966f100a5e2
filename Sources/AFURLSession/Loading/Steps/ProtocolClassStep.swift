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

    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation {
        guard !classes.all.isEmpty, let task = load.handle,
            let present = load.presentRequest
        else { return goOn(&draft, load: load) }
        if load.memory?.hasDroppedBody == true { draft.keepsBody = false }
        _ = load.beginForeign(present)
        let request = load.requestForClasses(present, keepsBody: draft.keepsBody)
        // Classes are asked about a task, so the request must be the task's current one.
        load.becomes(request)
        return .later(asking: nil) { [self] reply in
            classes.choose(for: task, request: request) { choice in
                reply { [self] draft, load in chosen(choice, draft: &draft, load: load) }
            }
        }
    }

    private func chosen(
        _ choice: ProtocolClasses.Choice?,
        draft: inout RequestDraft,
        load: Load
    ) -> Preparation {
        guard let memory = load.memory, let foreign = memory.foreign else { return .goOn }
        guard let choice else {
            foreign.stop()
            memory.foreign = nil
            load.becomes(memory.request)
            return goOn(&draft, load: load)
        }
        memory.hasDroppedBody = memory.hasDroppedBody || !draft.keepsBody
        load.begin(choice, by: foreign, on: classes.worker, keepsBody: draft.keepsBody)
        return .taken
    }

    /// No class loads the request.
    private func goOn(_ draft: inout RequestDraft, load: Load) -> Preparation {
        guard let forNetwork = draft.history?.forNetwork, let memory = load.memory else { return .goOn }
        memory.hasDroppedBody = forNetwork.hasDroppedBody
        memory.request = forNetwork.request
        return .goOn
    }
}
