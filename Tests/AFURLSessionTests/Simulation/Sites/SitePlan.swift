/// What one task of a walk wants, what those who are asked answer, and what is done to it meanwhile.
struct SitePlan {
    enum Style: CaseIterable {
        case delegate, completion, download
    }

    enum Body: CaseIterable {
        case none, data, stream
    }

    enum RedirectAnswer {
        case follow, stay
        /// Another request, for this place.
        case elsewhere(Int)
    }

    let name: String
    let start: Int
    let style: Style
    let method: String
    let body: Body
    let bodySize: Int
    let startsAt: Int
    let redirectAnswer: RedirectAnswer
    let challengeAnswer: Int
    let refusesResponse: Bool
    let keeps: Bool
    let hasStreams: Bool
    /// How long the answers take, in milliseconds.
    let patience: [Int]
    let suspensions: [(after: Int, lasting: Int)]
    let cancelledAfter: Int?

    var content: [UInt8] { body == .none ? [] : TaskPlan.pattern("up \(name)", bodySize) }

    static func random(_ number: Int, _ map: SiteMap, isCalm: Bool, _ random: inout SeededGenerator) -> SitePlan {
        let last = map.places.count - 1
        let body = random.chance(60) ? Body.none : random.pick([Body.data, .stream])
        let style = random.pick([Style.delegate, .delegate, .completion, .download])
        let elsewhere = RedirectAnswer.elsewhere(random.pick(0...last))
        return SitePlan(
            name: "t\(number)",
            start: random.pick(0...last),
            style: style,
            method: body == .none ? "GET" : random.pick(["PUT", "POST"]),
            body: body,
            bodySize: random.pick([1, 100, 5000, 100_000]),
            startsAt: random.pick(0...random.pick([0, 100, 5000])),
            redirectAnswer: isCalm || random.chance(80) ? .follow : random.pick([.stay, elsewhere]),
            challengeAnswer: isCalm || random.chance(70) ? 0 : random.pick(1...4),
            refusesResponse: !isCalm && random.chance(5),
            keeps: random.chance(80),
            hasStreams: isCalm || random.chance(80),
            patience: (0..<4).map { _ in random.chance(60) ? 0 : random.pick([1, 30, 900]) },
            suspensions: (0..<random.pick([0, 0, 1, 2, 4])).map { _ in
                (random.pick(0...random.pick([3, 40, 400, 3000])), random.pick([0, 1, 10, 200, 5000]))
            },
            cancelledAfter: isCalm || random.chance(75) ? nil : random.pick(0...random.pick([3, 40, 400, 3000]))
        )
    }
}
