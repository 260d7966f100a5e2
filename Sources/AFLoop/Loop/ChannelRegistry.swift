/// Who owns which poll token.
///
/// A token is a slot and the slot's generation. Removing a target moves the
/// generation on, so events the kernel had already queued for it go nowhere.
struct ChannelRegistry {
    private struct Slot {
        var generation: UInt32 = 0
        var modes: LoopModes = .all
        var held: Readiness = []
        var target: (any ChannelTarget)?
    }

    private var slots: ContiguousArray<Slot> = []
    private var free: ContiguousArray<Int> = []
    private var heldSlots = 0

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
        if !slots[index].held.isEmpty { heldSlots -= 1 }
        slots[index] = Slot(generation: (slots[index].generation &+ 1) & 0x7fff_ffff)
        free.append(index)
        return true
    }

    /// The receiver of an event, or nil if it is stale or belongs to another mode,
    /// in which case it is kept until the loop runs in that mode.
    mutating func target(of event: ReadyEvent, in mode: LoopModes) -> (any ChannelTarget)? {
        guard let index = index(of: event.token) else { return nil }
        guard slots[index].modes.isDisjoint(with: mode) else { return slots[index].target }
        if slots[index].held.isEmpty { heldSlots += 1 }
        slots[index].held.formUnion(event.readiness)
        return nil
    }

    mutating func takeHeld(in mode: LoopModes, into events: inout [ReadyEvent]) {
        guard heldSlots > 0 else { return }
        for index in slots.indices where !slots[index].held.isEmpty && !slots[index].modes.isDisjoint(with: mode) {
            let token = PollToken(slots[index].generation) << 32 | PollToken(index)
            events.append(ReadyEvent(token: token, readiness: slots[index].held))
            slots[index].held = []
            heldSlots -= 1
        }
    }

    private func index(of token: PollToken) -> Int? {
        let index = Int(token & 0xffff_ffff)
        guard slots.indices.contains(index), slots[index].generation == UInt32(truncatingIfNeeded: token >> 32),
            slots[index].target != nil
        else { return nil }
        return index
    }
}
