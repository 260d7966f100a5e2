import AFTransport
import AFWire

/// Starts the task's time, lets the consumer do what it has to do first, and puts the delegate's request in place of
/// the task's. A download that resumes sends its own request instead.
final class ConsumerStep: LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: Load) -> Preparation {
        load.restartTime()
        switch load.consumer.prepare(for: load) {
        case .nothing: break
        // It calls `restart`.
        case .later: return .later { _ in }
        case .loadsItself: return .leftToConsumer
        }
        guard let request = draft.history?.replacement, let task = load.handle else { return .goOn }
        do throws(RequestRejection) {
            draft.wire = .ready(try load.body.freeze(request, with: task.session.headers, load.session.settings))
        } catch {
            return .fail(.rejected(error))
        }
        load.memory(beginningWith: request).request = request
        load.becomes(request)
        return .goOn
    }
}
