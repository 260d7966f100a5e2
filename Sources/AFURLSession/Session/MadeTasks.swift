/// Tasks that were made and have not run. Held weakly: a task nobody resumes and
/// nobody holds is simply gone.
struct MadeTasks {
    private struct Entry {
        weak var task: URLSessionTask?
    }

    private var entries: ContiguousArray<Entry> = []
    private var freePlaces: ContiguousArray<Int32> = []

    /// Returns the place under which the task is removed again.
    mutating func add(_ task: URLSessionTask) -> Int32 {
        guard let place = freePlaces.popLast() else {
            entries.append(Entry(task: task))
            return Int32(entries.count - 1)
        }
        entries[Int(place)].task = task
        return place
    }

    mutating func remove(at place: Int32) {
        entries[Int(place)].task = nil
        freePlaces.append(place)
    }

    var tasks: [URLSessionTask] { entries.compactMap(\.task) }
}
