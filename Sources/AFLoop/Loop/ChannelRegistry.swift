/// Who owns which poll token.
///
/// A token is a slot and the slot's generation. Removing a target moves the
/// generation on, so events the kernel had already queued for it go nowhere. All of it is
/// constant time for each channel; slots are used again, and never given back.
struct ChannelRegistry {
    private struct Slot {
        var generation: UInt32 = 0
        var modes: LoopModes = .all
        /// Readiness for a later turn, if it is among those that wait.
        var held: Readiness = []
        var isWaiting = false
        /// Where the event is that was made of it, in the list of this turn.
        var place: Int32 = 0
        var target: (any ChannelTarget)?
    }

    private var slots: ContiguousArray<Slot> = []
    private var free: ContiguousArray<Int> = []
    /// Those whose readiness was kept for a later turn, in that order.
    private var waiting: ContiguousArray<PollToken> = []

    var count: Int { slots.count - free.count }

    mutating func add(_ target: any ChannelTarget, modes: LoopModes) -> PollToken {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot()) }
        slots[index].target = target
        slots[index].modes = modes
        return PollToken(slots[index].generation) << 32 | PollToken(index)
    }

    @discardableResult
    mutating func remove(_ token: PollToken) -> Bool {
        guard let index = index(of: token) else { return false }
        slots[index] = Slot(generation: (slots[index].generation &+ 1) & 0x7fff_ffff)
        free.append(index)
        return true
    }

    /// The receiver of an event, or nil if it is stale or belongs to another mode,
    /// in which case it is kept until the loop runs in that mode.
    mutating func target(of event: ReadyEvent, in mode: LoopModes) -> (any ChannelTarget)? {
        guard let index = index(of: event.token) else { return nil }
        guard slots[index].modes.isDisjoint(with: mode) else { return slots[index].target }
        hold(event)
        return nil
    }

    /// Keeps readiness for a later turn, together with what is kept already.
    mutating func hold(_ event: ReadyEvent) {
        guard let index = index(of: event.token) else { return }
        slots[index].held.formUnion(event.readiness)
        guard !slots[index].isWaiting else { return }
        slots[index].isWaiting = true
        waiting.append(event.token)
    }

    var hasHeld: Bool { !waiting.isEmpty }

    /// Begins the list of a turn with what was kept for it.
    mutating func takeHeld(in mode: LoopModes, into events: inout [ReadyEvent]) {
        guard !waiting.isEmpty else { return }
        var left = 0
        for token in waiting {
            guard let index = index(of: token) else { continue }
            guard !slots[index].modes.isDisjoint(with: mode) else {
                waiting[left] = token
                left += 1
                continue
            }
            slots[index].place = Int32(clamping: events.count)
            events.append(ReadyEvent(token: token, readiness: slots[index].held))
            slots[index].held = []
            slots[index].isWaiting = false
        }
        waiting.removeLast(waiting.count - left)
    }

    /// Makes one event of two for the same channel: what was kept for this turn, the first `count` events, and what the
    /// poller has reported behind them.
    func join(_ events: inout [ReadyEvent], keptBefore count: Int) {
        guard count > 0 else { return }
        var end = count
        for position in count..<events.count {
            let event = events[position]
            if let place = place(of: event, in: events, keptBefore: count) {
                events[place] = ReadyEvent(
                    token: event.token,
                    readiness: events[place].readiness.union(event.readiness)
                )
            } else {
                events[end] = event
                end += 1
            }
        }
        events.removeLast(events.count - end)
    }

    private func place(of event: ReadyEvent, in events: [ReadyEvent], keptBefore count: Int) -> Int? {
        guard let index = index(of: event.token) else { return nil }
        let place = Int(slots[index].place)
        return place < count && events[place].token == event.token ? place : nil
    }

    private func index(of token: PollToken) -> Int? {
        let index = Int(token & 0xffff_ffff)
        guard slots.indices.contains(index), slots[index].generation == UInt32(truncatingIfNeeded: token >> 32),
            slots[index].target != nil
        else { return nil }
        return index
    }
}
