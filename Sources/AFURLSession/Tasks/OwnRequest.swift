import AFWire

/// The request a task was made with, or why the session cannot send it. One word in memory: every queued task has one,
/// and hardly any is refused.
enum OwnRequest {
    case ready(WireRequest)
    indirect case refused(RequestRejection)

    init(_ result: Result<WireRequest, RequestRejection>) {
        switch result {
        case .success(let request): self = .ready(request)
        case .failure(let rejection): self = .refused(rejection)
        }
    }

    init(catching freeze: () throws(RequestRejection) -> WireRequest) {
        self.init(Result(catching: freeze))
    }

    /// Nil if the session cannot send it.
    var frozen: WireRequest? { if case .ready(let request) = self { request } else { nil } }

    func get() throws(RequestRejection) -> WireRequest {
        switch self {
        case .ready(let request): return request
        case .refused(let rejection): throw rejection
        }
    }
}
