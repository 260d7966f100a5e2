@testable import AFURLSession
@testable import AFURLTypes

/// What one seed of a simulation came to.
struct SimulationOutcome: Sendable {
    var violations: [String] = []
    /// How often each point struck, in the order of `FaultPoint.allCases`.
    var faults: [Int] = []
    var virtualSeconds = 0.0
    /// Turns and plans, where they were asked for.
    var trace: [String] = []
}

/// The kinds of simulation, and which seed is of which.
enum SimulationKind: String, CaseIterable, Sendable {
    case conversations
    case secured = "conversations in TLS"
    case proxied = "conversations by proxy"
    case courses
    case repetitions
    case storage = "disks and power cuts"

    /// Of a hundred seeds in a row.
    private static let shares: [(SimulationKind, Int)] = [
        (.conversations, 28), (.secured, 14), (.proxied, 12), (.courses, 20), (.repetitions, 12), (.storage, 14),
    ]

    static func of(_ seed: UInt64) -> SimulationKind {
        // Neighbours differ, so that any stretch of seeds has all kinds.
        var place = Int(seed % 100) * 37 % 100
        for (kind, share) in shares {
            if place < share { return kind }
            place -= share
        }
        return .conversations
    }

    func hold(_ seed: UInt64, traced: Bool = false) throws -> SimulationOutcome {
        switch self {
        case .conversations: SimulationKind.converse(Conversation(seed: seed, traced: traced), traced)
        case .secured: SimulationKind.converse(Conversation(seed: seed, isSecured: true, traced: traced), traced)
        case .proxied: SimulationKind.converse(Conversation(proxied: seed, traced: traced), traced)
        case .courses: try SimulationKind.walk(seed, traced)
        case .repetitions: try SimulationKind.repeat(seed, traced)
        case .storage: try SimulationKind.store(seed)
        }
    }

    private static func converse(_ conversation: Conversation, _ traced: Bool) -> SimulationOutcome {
        let world = conversation.world
        let start = world.now
        conversation.run()
        var outcome = SimulationOutcome(violations: conversation.conclude())
        outcome.add(world, since: start)
        if traced { outcome.trace = world.trace + conversation.plans.map { "\($0)" } }
        return outcome
    }

    private static func walk(_ seed: UInt64, _ traced: Bool) throws -> SimulationOutcome {
        let walk = try SiteWalk(seed: seed, traced: traced)
        let start = walk.world.now
        var outcome = SimulationOutcome(violations: walk.run())
        outcome.add(walk.world, since: start)
        guard traced else { return outcome }
        let places = walk.map.places.map { place in
            "\(place.number) \(place.url) \(place.kind) \(place.keeping) \(place.fate) \(place.wantsPassword)"
        }
        outcome.trace = walk.world.trace + places + walk.plans.map { "\($0)" }
        return outcome
    }

    private static func `repeat`(_ seed: UInt64, _ traced: Bool) throws -> SimulationOutcome {
        let scratch = try ScratchFolder()
        let walk = RepetitionWalk(seed: seed, in: scratch, traced: traced)
        let start = walk.world.now
        var outcome = SimulationOutcome(violations: walk.run())
        // The folder goes with its last user.
        withExtendedLifetime(scratch) {}
        outcome.add(walk.world, since: start)
        if traced { outcome.trace = walk.world.trace + walk.plans.map { "\($0)" } }
        return outcome
    }

    private static func store(_ seed: UInt64) throws -> SimulationOutcome {
        let walk = try StorageWalk(seed: seed)
        return SimulationOutcome(violations: walk.run(), faults: walk.faults.all, trace: walk.notes)
    }
}

extension SimulationOutcome {
    fileprivate mutating func add(_ world: VirtualWorld, since start: LoopInstant) {
        faults = world.faults.all
        virtualSeconds = Double(start.duration(to: world.now).components.seconds)
    }
}
