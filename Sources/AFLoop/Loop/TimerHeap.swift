/// Names one armed timer. A stale name (fired, cancelled, slot reused) is recognised and does nothing.
package struct TimerID: Sendable, Hashable {
    fileprivate let slot: UInt32
    fileprivate let generation: UInt32
}

/// Woken when its timer is due, on the loop.
package protocol TimerTarget: AnyObject {
    func timerFired(_ timer: TimerID)
}

/// Armed timers, ordered by deadline and then by the order of arming.
///
/// A binary heap whose entries know their place, so cancelling is as cheap as
/// arming: O(log n), with nothing left behind.
struct TimerHeap {
    struct Due {
        let timer: TimerID
        let target: any TimerTarget
        let modes: LoopModes
        fileprivate let entry: Entry
    }

    fileprivate struct Entry {
        let deadline: LoopInstant
        let sequence: UInt64
        let slot: UInt32

        func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
        }
    }

    private struct Slot {
        var generation: UInt32 = 0
        var position = TimerHeap.unplaced
        var modes: LoopModes = .common
        var target: (any TimerTarget)?
    }

    private static let unplaced = -1

    private var heap: ContiguousArray<Entry> = []
    private var slots: ContiguousArray<Slot> = []
    private var freeSlots: ContiguousArray<UInt32> = []
    private var nextSequence: UInt64 = 0

    var count: Int { slots.count - freeSlots.count }

    var earliestDeadline: LoopInstant? { heap.first?.deadline }

    mutating func arm(at deadline: LoopInstant, modes: LoopModes, for target: any TimerTarget) -> TimerID {
        let slot = takeSlot()
        slots[Int(slot)].target = target
        slots[Int(slot)].modes = modes
        place(Entry(deadline: deadline, sequence: nextSequence, slot: slot))
        nextSequence += 1
        return TimerID(slot: slot, generation: slots[Int(slot)].generation)
    }

    @discardableResult
    mutating func cancel(_ timer: TimerID) -> Bool {
        guard isArmed(timer) else { return false }
        let position = slots[Int(timer.slot)].position
        if position != TimerHeap.unplaced { removeEntry(at: position) }
        release(timer.slot)
        return true
    }

    func isArmed(_ timer: TimerID) -> Bool {
        slots.indices.contains(Int(timer.slot)) && slots[Int(timer.slot)].generation == timer.generation
            && slots[Int(timer.slot)].target != nil
    }

    /// Moves every timer that is due into `due`, still cancellable, so that a
    /// target that arms a new timer cannot keep the loop from getting on.
    mutating func collectDue(at now: LoopInstant, into due: inout [Due]) {
        while let first = heap.first, first.deadline <= now {
            removeEntry(at: 0)
            let slot = slots[Int(first.slot)]
            guard let target = slot.target else { continue }
            let timer = TimerID(slot: first.slot, generation: slot.generation)
            due.append(Due(timer: timer, target: target, modes: slot.modes, entry: first))
        }
    }

    /// Puts a collected timer back in its old place in the order.
    mutating func putBack(_ due: Due) {
        if isArmed(due.timer) { place(due.entry) }
    }

    // MARK: - Slots

    private mutating func takeSlot() -> UInt32 {
        if let slot = freeSlots.popLast() { return slot }
        slots.append(Slot())
        return UInt32(slots.count - 1)
    }

    private mutating func release(_ slot: UInt32) {
        slots[Int(slot)].target = nil
        slots[Int(slot)].generation &+= 1
        slots[Int(slot)].position = TimerHeap.unplaced
        freeSlots.append(slot)
    }

    // MARK: - Heap

    private mutating func place(_ entry: Entry) {
        heap.append(entry)
        siftUp(from: heap.count - 1, entry: entry)
    }

    private mutating func removeEntry(at position: Int) {
        slots[Int(heap[position].slot)].position = TimerHeap.unplaced
        guard let last = heap.popLast(), position < heap.count else { return }
        if position > 0, last.isBefore(heap[(position - 1) / 2]) {
            siftUp(from: position, entry: last)
        } else {
            siftDown(from: position, entry: last)
        }
    }

    private mutating func siftUp(from start: Int, entry: Entry) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            put(heap[parent], at: position)
            position = parent
        }
        put(entry, at: position)
    }

    private mutating func siftDown(from start: Int, entry: Entry) {
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(entry) else { break }
            put(heap[child], at: position)
            position = child
        }
        put(entry, at: position)
    }

    private mutating func put(_ entry: Entry, at position: Int) {
        heap[position] = entry
        slots[Int(entry.slot)].position = position
    }
}
