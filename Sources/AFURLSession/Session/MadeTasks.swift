/// Tasks that were made and may never run. Held weakly: a task nobody resumes and
/// nobody holds is simply gone.
struct MadeTasks {
    private struct Entry {
        weak var task: URLSessionTask?
    }

    private var entries: ContiguousArray<Entry> = []
    private var sweepAt = 64

    /// Returns the tasks it looked at, to be let go of outside of the caller's lock:
    /// whoever drops the last reference to a task runs the `deinit` of what it owned.
    mutating func add(_ task: URLSessionTask) -> [URLSessionTask] {
        defer { entries.append(Entry(task: task)) }
        guard entries.count >= sweepAt else { return [] }
        let alive = tasks
        // Tasks that run are known to the loop; only the others are kept here.
        entries = ContiguousArray(alive.filter { $0.state == .suspended }.map(Entry.init))
        sweepAt = max(64, 2 * entries.count)
        return alive
    }

    var tasks: [URLSessionTask] { entries.compactMap(\.task) }
}
