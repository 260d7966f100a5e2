/// What an operation is doing.
///
/// ```
///          ┌──────────────── pause ───────────────┐
///          ▼                                      │
/// ready ──start──▶ executing ──end──▶ finished    │
///   │  ▲               └────────── pause ──▶ paused
///   │  └────────────────────────── resume ─────┘  │
///   └── start, if cancelled ──▶ finished ◀─ cancel, if it had begun
/// ```
enum OperationPhase: Int, Sendable {
    case paused = -1
    case ready = 1
    case executing = 2
    case finished = 3

    /// The property that announces it.
    var key: String {
        switch self {
        case .paused: "isPaused"
        case .ready: "isReady"
        case .executing: "isExecuting"
        case .finished: "isFinished"
        }
    }
}
