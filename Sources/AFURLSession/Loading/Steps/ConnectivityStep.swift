import AFLoop
import AFTransport

/// Waits for a network if there is none, and sends the request again.
final class ConnectivityStep: LoadStep {
    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        guard case .failure(let failure) = outcome, failure.error.isLackOfNetwork, load.transfer != nil,
            load.memory?.foreign == nil, let present = load.presentRequest
        else { return .pass }
        let memory = load.memory(beginningWith: present)
        if memory.connectivity == nil { tellOfWaiting(load) }
        let wait = memory.connectivity ?? ConnectivityWait(in: load.session.world)
        memory.connectivity = wait
        return .later(asking: nil, time: .stands) { [self] reply in
            wait.begin(until: load.time.end(at: load.session.loop.now)) { reply { [self] load, _ in tryAgain(load) } }
        }
    }

    private func tellOfWaiting(_ load: any LoadView) {
        guard let (delegate, task) = load.taskDelegate else { return }
        load.session.outbox.post(.block { delegate.urlSession(task.session, taskIsWaitingForConnectivity: task) })
    }

    /// The network may be there now.
    private func tryAgain(_ load: any LoadView) -> Verdict {
        guard let memory = load.memory, let former = load.transfer else { return .pass }
        guard load.session.loop.now < load.time.deadline else { return .fail(.transfer(.outOfTime(.offline))) }
        memory.connectivity?.pass()
        return load.presentAgain(inPlaceOf: former).map(Verdict.send) ?? .pass
    }
}
