/// Tasks that were made and have not run. The session holds them until they run, are cancelled, or the session ends, as
/// Apple's does: code keeps a weak reference to a task, or none, between making and resuming it.
struct MadeTasks {
    private var entries: ContiguousArray<URLSessionTask?> = []
    private var freePlaces: ContiguousArray<Int32> = []

    /// Returns the place from which to remove the task.
    mutating func add(_ task: URLSessionTask) -> Int32 {
        guard let place = freePlaces.popLast() else {
            entries.append(task)
            return Int32(entries.count - 1)
        }
        entries[Int(place)] = task
        return place
    }

    /// Returns the task. This may be the last reference to it: do not release it under a lock.
    mutating func remove(at place: Int32) -> URLSessionTask? {
        defer {
            entries[Int(place)] = nil
            freePlaces.append(place)
        }
        return entries[Int(place)]
    }

    var tasks: [URLSessionTask] { entries.compactMap(\.self) }
}
