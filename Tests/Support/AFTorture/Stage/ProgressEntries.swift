import AFBase
import AFLoop
package import AFURLSession

/// What the tasks of a session have told of their progress.
package final class ProgressEntries: Book {
    package enum Direction: Hashable, Sendable {
        case up, down
    }

    private struct Lane: Hashable {
        let direction: Direction
        let task: Int
    }

    private struct State {
        var totals: [Lane: Int64] = [:]
        var complaints: [String] = []
    }

    private let state = Lock(State())

    package init() {}

    package func goOn(_ task: URLSessionTask, at offset: Int64) {
        state.withLock { $0.totals[Lane(direction: .down, task: task.taskIdentifier)] = offset }
    }

    package func tell(_ direction: Direction, _ task: URLSessionTask, _ count: Int64, _ total: Int64, _ expected: Int64)
    {
        let lane = Lane(direction: direction, task: task.taskIdentifier)
        state.withLock { state in
            // A body that is sent again, and a file that is begun anew, are counted from their beginning.
            let former = total == count ? 0 : state.totals[lane] ?? 0
            if count <= 0 || total != former + count {
                state.complaints.append("\(count) bytes more than \(former) are \(total) of task \(lane.task)")
            }
            if expected >= 0, total > expected {
                state.complaints.append("\(total) bytes of \(expected) of task \(lane.task)")
            }
            state.totals[lane] = total
        }
    }

    package var complaint: String? {
        let complaints = state.withLock { $0.complaints }
        return complaints.isEmpty ? nil : complaints.joined(separator: ", ")
    }

    package var openEntry: String? { nil }
}
