import Testing

@testable import AFLoop

private final class Target: ChannelTarget {
    func channelReady(_ readiness: Readiness) {}
}

struct ChannelRegistryTests {
    private func event(_ token: PollToken, _ readiness: Readiness = .readable) -> ReadyEvent {
        ReadyEvent(token: token, readiness: readiness)
    }

    @Test func `T-RES-25 an event for an earlier owner of a slot reaches no target`() {
        var registry = ChannelRegistry()
        let (old, new) = (Target(), Target())
        let stale = registry.add(old, modes: .all)
        registry.remove(stale)
        let fresh = registry.add(new, modes: .all)

        #expect(stale != fresh && stale & 0xffff_ffff == fresh & 0xffff_ffff)
        #expect(registry.target(of: event(stale), in: .default) == nil)
        #expect(registry.target(of: event(fresh), in: .default) === new)
        #expect(registry.remove(stale) == false)
        #expect(registry.count == 1)
    }

    @Test func `tokens that the registry never gave out reach no target`() {
        var registry = ChannelRegistry()
        _ = registry.add(Target(), modes: .all)

        for token in [1, PollToken(1) << 32, .max, .max >> 1] as [PollToken] {
            #expect(registry.target(of: event(token), in: .all) == nil)
        }
    }

    @Test func `events of another mode are held, gathered and delivered in theirs`() {
        var registry = ChannelRegistry()
        let target = Target()
        let token = registry.add(target, modes: .tracking)
        var events: [ReadyEvent] = []

        #expect(registry.target(of: event(token, .readable), in: .default) == nil)
        #expect(registry.target(of: event(token, .writable), in: .default) == nil)
        registry.takeHeld(in: .default, into: &events)
        #expect(events.isEmpty)
        registry.takeHeld(in: .tracking, into: &events)

        #expect(events.map(\.token) == [token] && events[0].readiness == [.readable, .writable])
        registry.takeHeld(in: .tracking, into: &events)
        #expect(events.count == 1)
    }

    @Test func `T-RES-27 what the poller reports of a channel that goes on joins what was kept of it`() {
        var registry = ChannelRegistry()
        let targets = (0..<4).map { _ in Target() }
        let tokens = targets.map { registry.add($0, modes: .all) }
        for token in [tokens[2], tokens[0], tokens[2]] { registry.hold(event(token, .readable)) }
        var events: [ReadyEvent] = []

        registry.takeHeld(in: .default, into: &events)
        let kept = events.count
        events += [tokens[1], tokens[0], tokens[3], .max].map { event($0, .writable) }
        registry.join(&events, keptBefore: kept)

        #expect(events.map(\.token) == [tokens[2], tokens[0], tokens[1], tokens[3], .max])
        #expect(events.map(\.readiness) == [.readable, [.readable, .writable], .writable, .writable, .writable])
        registry.takeHeld(in: .default, into: &events)
        #expect(events.count == 5)
    }

    @Test func `of a channel that asks for nothing in particular the loop hears all the same`() {
        var registry = ChannelRegistry()
        let target = Target()
        let token = registry.add(target, modes: .all)
        registry.hold(event(token, []))
        var events: [ReadyEvent] = []

        registry.takeHeld(in: .default, into: &events)

        #expect(events.map(\.token) == [token] && events[0].readiness == [])
    }

    @Test func `a removed target takes its held events with it`() {
        var registry = ChannelRegistry()
        let token = registry.add(Target(), modes: .tracking)
        _ = registry.target(of: event(token), in: .default)
        registry.remove(token)
        var events: [ReadyEvent] = []

        registry.takeHeld(in: .tracking, into: &events)

        #expect(events.isEmpty && registry.count == 0)
    }
}
