/// The records of a manager's tasks.
struct TaskRecords: Sendable {
    /// Tasks of different sessions may have the same number.
    private struct Key: Hashable {
        let session: ObjectIdentifier
        let task: Int
    }

    private var records: [Key: TaskRecord] = [:]
    private var nextSweep = 64

    var count: Int { records.count }

    subscript(task: URLSessionTask, session: URLSession) -> TaskRecord? {
        records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)]
    }

    /// - Returns: Records of tasks that are gone. They hold what is the user's: let go of them not under a lock.
    mutating func add(_ record: TaskRecord, of task: URLSessionTask, in session: URLSession) -> [TaskRecord] {
        defer { records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)] = record }
        return sweep()
    }

    mutating func remove(_ task: URLSessionTask, in session: URLSession) -> TaskRecord? {
        records.removeValue(forKey: Key(session: ObjectIdentifier(session), task: task.taskIdentifier))
    }

    mutating func removeAll(of session: URLSession) -> [TaskRecord] {
        let gone = records.filter { $0.key.session == ObjectIdentifier(session) }
        for key in gone.keys { records[key] = nil }
        return Array(gone.values)
    }

    /// Tasks that are dropped without having been resumed tell nobody.
    private mutating func sweep() -> [TaskRecord] {
        guard records.count >= nextSweep else { return [] }
        let gone = records.filter { $0.value.isOrphaned }
        for key in gone.keys { records[key] = nil }
        nextSweep = max(64, 2 * records.count)
        return Array(gone.values)
    }
}
