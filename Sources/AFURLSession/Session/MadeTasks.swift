/// Tasks that were made and may never run. Held weakly: a task nobody resumes and
/// nobody holds is simply gone.
struct MadeTasks {
    private struct Entry {
        weak var task: URLSessionTask?
    }

    private var entries: ContiguousArray<Entry> = []
    private var sweepAt = 64

    mutating func add(_ task: URLSessionTask) {
        if entries.count >= sweepAt {
            // Tasks that run are known to the loop; only the others are kept here.
            entries.removeAll { $0.task.map { $0.state != .suspended } ?? true }
            sweepAt = max(64, 2 * entries.count)
        }
        entries.append(Entry(task: task))
    }

    var tasks: [URLSessionTask] { entries.compactMap(\.task) }
}
