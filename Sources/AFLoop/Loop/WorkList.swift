/// Work collected for one step of a turn.
///
/// It belongs to the loop and not to the step, so that a nested run, made from one
/// piece of work, goes on with the rest of it: the piece may be waiting for just that.
struct WorkList<Work> {
    private var items: [Work] = []
    private var next = 0

    var isEmpty: Bool { next == items.count }

    mutating func add(_ work: Work) {
        items.append(work)
    }

    /// Takes over all of `work` and leaves it empty.
    mutating func add(contentsOf work: inout [Work]) {
        if isEmpty {
            clear()
            swap(&items, &work)
        } else {
            items += work
            work.removeAll(keepingCapacity: true)
        }
    }

    mutating func takeNext() -> Work? {
        guard next < items.count else {
            clear()
            return nil
        }
        defer { next += 1 }
        return items[next]
    }

    private mutating func clear() {
        items.removeAll(keepingCapacity: true)
        next = 0
    }
}
