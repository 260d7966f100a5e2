/// What one simulated task asks for, and what becomes of it.
struct TaskPlan {
    enum Style {
        case delegate
        case completion
    }

    let nonce: String
    let session: Int
    let host: Int
    let method: String
    let upload: Int
    let download: Int
    let behaviour: Behaviour
    let style: Style
    let priority: Float
    let idleTimeout: Int
    let startsAt: Int
    /// The delegate answers after this many milliseconds.
    let answersAfter: Int
    /// The delegate wants nothing of it.
    let refuses: Bool
    /// The upload is coded on its way.
    let isCoded: Bool
    /// A field follows the upload.
    let hasTrailer: Bool
    /// What is done to it, in milliseconds after its start.
    let interventions: [(after: Int, what: Intervention)]

    enum Intervention: CaseIterable {
        case cancel
        case suspend
        case resume
        case priority
        case cancelTwice

        // MARK: Done to its whole session
        case resetSession
        case finishSession
        case endSession
        case connect

        static let ofTask: [Intervention] = [.cancel, .suspend, .resume, .priority, .cancelTwice]
        static let ofSession: [Intervention] = [.resetSession, .finishSession, .endSession, .connect]
    }

    var isIdempotent: Bool { method != "POST" }
    var isCancelled: Bool { interventions.contains { $0.what == .cancel || $0.what == .cancelTwice } }
}

extension TaskPlan {
    private static let unit: [UInt8] = (0..<1009).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 3) }

    /// Bytes that no other task's body has.
    static func pattern(_ label: String, _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        let unit = Array("<\(label)>".utf8) + unit
        while bytes.count < count { bytes.append(contentsOf: unit.prefix(count - bytes.count)) }
        return bytes
    }

    var uploadBody: [UInt8] { TaskPlan.pattern("up \(nonce)", upload) }
    var downloadBody: [UInt8] { TaskPlan.pattern("down \(nonce)", download) }

    static func random(_ number: Int, _ size: ConversationSize, _ random: inout SeededGenerator) -> TaskPlan {
        let method = random.pick(["GET", "GET", "GET", "POST", "POST", "HEAD"])
        let drawn = size.isCalm ? random.pick(Behaviour.calm) : random.pick(Behaviour.allCases + Behaviour.calm)
        // Without a body there is nothing to break off in the middle of.
        var behaviour = method == "HEAD" && drawn.breaksBody ? .length : drawn
        let upload = method == "POST" ? bodySize(size, &random) : 0
        if upload == 0, behaviour == .early { behaviour = .length }
        return TaskPlan(
            nonce: "n\(number)",
            session: random.pick(0...size.sessions - 1),
            host: random.pick(0...size.hosts - 1),
            method: method,
            upload: upload,
            download: bodySize(size, &random),
            behaviour: behaviour,
            style: random.pick([.delegate, .completion]),
            priority: random.pick([0.25, 0.5, 0.5, 0.75]),
            // Where nothing may fail, many tasks may wait for each other, each for a slow name.
            idleTimeout: size.isCalm ? 300 : random.pick([1, 5, 60]),
            startsAt: random.pick(0...random.pick([0, 50, 5000])),
            answersAfter: random.chance(70) ? 0 : random.pick(0...3000),
            refuses: !size.isCalm && random.chance(4),
            isCoded: random.chance(30),
            hasTrailer: random.chance(20),
            interventions: interventions(size, &random)
        )
    }

    private static func bodySize(_ size: ConversationSize, _ random: inout SeededGenerator) -> Int {
        let largest = random.pick([0, 100, 100, 3000, 3000, 20_000, 300 << 10])
        return random.pick(0...min(largest, size.isCalm ? 20_000 : largest))
    }

    private static func interventions(
        _ size: ConversationSize,
        _ random: inout SeededGenerator
    ) -> [(after: Int, what: Intervention)] {
        guard !size.isCalm, random.chance(35) else { return [] }
        if random.chance(8) { return [(random.pick(0...3000), random.pick(Intervention.ofSession))] }
        return (0..<random.pick(1...3)).map { _ in
            (random.pick(0...random.pick([0, 20, 400, 3000])), random.pick(Intervention.ofTask))
        }
    }
}

/// How much goes on in a conversation.
struct ConversationSize {
    let sessions: Int
    let hosts: Int
    let tasks: Int
    /// Nothing goes wrong but the timing: everything must succeed.
    let isCalm: Bool

    init(_ random: inout SeededGenerator) {
        sessions = random.pick([1, 1, 2, 3])
        hosts = random.pick([1, 1, 2, 4])
        tasks = random.pick(3...random.pick([5, 8, 8, 12, 40]))
        isCalm = random.chance(25)
    }
}
