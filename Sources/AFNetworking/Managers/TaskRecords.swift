/// The records of a manager's tasks.
struct TaskRecords: Sendable {
    /// Tasks of different sessions may have the same number.
    private struct Key: Hashable {
        let session: ObjectIdentifier
        let task: Int
    }

    private var records: [Key: TaskRecord] = [:]
    /// How many tasks are being made. They have no records yet, and may end already.
    private var making = 0
    private var endedWithoutRecord: [Key: End] = [:]

    struct End: Sendable {
        let error: (any Error)?
    }

    var count: Int { records.count }

    subscript(task: URLSessionTask, session: URLSession) -> TaskRecord? {
        records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)]
    }

    mutating func add(_ record: TaskRecord, of task: URLSessionTask, in session: URLSession) {
        records[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)] = record
    }

    mutating func beginMaking() { making += 1 }

    /// - Returns: How the task has ended, if it has.
    mutating func endMaking(_ task: URLSessionTask, in session: URLSession) -> End? {
        making -= 1
        defer { if making == 0 { endedWithoutRecord = [:] } }
        let key = Key(session: ObjectIdentifier(session), task: task.taskIdentifier)
        return endedWithoutRecord.removeValue(forKey: key)
    }

    /// Removes and returns the record of a task that has ended. While tasks are being made, remembers an end without a
    /// record.
    mutating func end(_ task: URLSessionTask, in session: URLSession, _ error: (any Error)?) -> TaskRecord? {
        if let record = remove(task, in: session) { return record }
        if making > 0 {
            endedWithoutRecord[Key(session: ObjectIdentifier(session), task: task.taskIdentifier)] = End(error: error)
        }
        return nil
    }

    mutating func remove(_ task: URLSessionTask, in session: URLSession) -> TaskRecord? {
        records.removeValue(forKey: Key(session: ObjectIdentifier(session), task: task.taskIdentifier))
    }

    /// Removes the records of a session that calls no more. A new session may get its address, and tasks of the same
    /// numbers.
    mutating func removeAll(of session: URLSession) -> [TaskRecord] {
        let session = ObjectIdentifier(session)
        endedWithoutRecord = endedWithoutRecord.filter { $0.key.session != session }
        let gone = records.filter { $0.key.session == session }
        for key in gone.keys { records[key] = nil }
        return Array(gone.values)
    }
}
