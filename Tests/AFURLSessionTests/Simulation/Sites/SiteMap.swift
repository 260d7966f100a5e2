/// What the servers of a simulated world have, and where it leads: places that answer, send on, or ask who is there.
struct SiteMap {
    enum Kind {
        case content
        case redirect(Int, to: Int)
    }

    /// What caches may do with it.
    enum Keeping: CaseIterable {
        case nothing, fresh, validated, refreshed

        var fields: String {
            switch self {
            case .nothing: ""
            case .fresh: "Cache-Control: max-age=1000\r\n"
            case .validated: "Cache-Control: max-age=0\r\nETag: \"1\"\r\n"
            case .refreshed: "Cache-Control: max-age=1, stale-while-revalidate=1000\r\nETag: \"1\"\r\n"
            }
        }
    }

    /// What becomes of the answer on its way.
    enum Fate: CaseIterable {
        case whole, chunked, slow, announcesClose
        /// It does not wait for the body of the request.
        case early

        // MARK: And these it does not survive, half of the time
        case dies, diesInBody, stalls

        static let calm: [Fate] = [.whole, .whole, .whole, .chunked, .slow, .announcesClose, .early]
    }

    struct Place {
        let number: Int
        let host: Int
        let kind: Kind
        let keeping: Keeping
        let fate: Fate
        let wantsPassword: Bool
        let setsCookie: Bool
        let isCoded: Bool
        let body: [UInt8]
        let wireBody: [UInt8]

        var url: String { "http://host\(host).test/p\(number)" }
        var isContent: Bool { if case .content = kind { true } else { false } }
    }

    let hosts: Int
    let places: [Place]

    init(isCalm: Bool, _ random: inout SeededGenerator) {
        let hosts = random.pick(1...3)
        self.hosts = hosts
        let count = random.pick(2...9)
        places = (0..<count).map { number in
            let isRedirect = number > 0 && random.chance(55)
            let redirect = Kind.redirect(random.pick([301, 302, 303, 307, 307, 308]), to: random.pick(0...count - 1))
            let size = random.pick([0, 5, 300, 3000, 70_000, 200_000])
            let isCoded = random.chance(35)
            let body = TaskPlan.pattern("place \(number)", size)
            return Place(
                number: number,
                host: random.pick(0...hosts - 1),
                kind: isRedirect ? redirect : .content,
                keeping: random.pick(Keeping.allCases),
                fate: random.pick(isCalm ? Fate.calm : Fate.allCases + Fate.calm),
                wantsPassword: random.chance(25),
                setsCookie: random.chance(30),
                isCoded: isCoded,
                body: body,
                wireBody: isCoded ? Array(Coded.gzip(Data(body))) : body
            )
        }
    }

    func place(_ target: String) -> Place? {
        guard target.hasPrefix("/p"), let number = Int(target.dropFirst(2)), places.indices.contains(number) else {
            return nil
        }
        return places[number]
    }

    /// Where those arrive who follow every redirect; nil if there are too many of them.
    func end(from start: Int) -> Place? {
        var place = places[start]
        for _ in 0...20 {
            guard case .redirect(_, let next) = place.kind else { return place }
            place = places[next]
        }
        return nil
    }

    static func password(_ host: Int) -> String { "canary-\(host)" }
    static let refusal = Array("who are you?".utf8)
    static let codedRefusal = Array(Coded.gzip(Data(refusal)))
}
