package import AFWire

/// The cookies of a store, the rules they are judged by, and those that wait to be judged. A value that the lock of its
/// store guards.
package struct CookieState: Sendable {
    package var jar: CookieJar
    package var policy = CookiePolicy.always
    /// The rules by which the cookies in the jar were judged.
    private var suffixes: PublicSuffixes
    /// The cookies that arrived before the public suffix list was read. They are judged once the list was read, or
    /// could not be.
    private var waiting: [CookieArrival] = []
    /// How many cookies were refused since the store was made.
    package private(set) var refused = 0
    /// A notification of a change is about to be posted.
    package var isAnnounced = false

    package init(jar: CookieJar, suffixes: PublicSuffixes) {
        self.jar = jar
        self.suffixes = suffixes
    }

    /// How many responses wait for the public suffix list.
    package var waitingCount: Int { waiting.count }

    // MARK: - Rules

    /// Uses these rules from now on: drops the cookies that they forbid, and judges those that wait.
    package mutating func adopt(_ suffixes: PublicSuffixes) -> Bool {
        var hasChanged = false
        if suffixes !== self.suffixes {
            self.suffixes = suffixes
            let before = jar.count
            jar.judge(by: suffixes)
            hasChanged = jar.count != before
        }
        guard !waiting.isEmpty else { return hasChanged }
        for arrival in waiting where take(arrival).hasChanged { hasChanged = true }
        waiting = []
        return hasChanged
    }

    // MARK: - Sending

    /// The value of the `Cookie` field of a request; nil if none is sent.
    package mutating func field(
        for question: CookieQuestion,
        now: Int64
    ) -> (field: [UInt8]?, hasEnded: Bool) {
        let hasEnded = jar.advance(to: now)
        guard question.isAllowed(by: policy, suffixes: suffixes) else { return (nil, hasEnded) }
        return (jar.field(for: question, now: now, suffixes: suffixes), hasEnded)
    }

    /// The cookies that would be sent with a request, in that order.
    package mutating func cookies(
        for question: CookieQuestion,
        now: Int64
    ) -> (cookies: [StoredCookie], hasEnded: Bool) {
        let hasEnded = jar.advance(to: now)
        guard question.isAllowed(by: policy, suffixes: suffixes) else { return ([], hasEnded) }
        return (jar.cookies(for: question, now: now, suffixes: suffixes), hasEnded)
    }

    // MARK: - Storing

    /// Lets the cookies of a response wait until the public suffix list is read.
    package mutating func postpone(_ arrival: CookieArrival) {
        waiting.append(arrival)
    }

    /// Judges the cookies of a response, and stores those that its server may set.
    package mutating func take(_ arrival: CookieArrival) -> (refused: Int, hasChanged: Bool) {
        var refused = arrival.refused
        var hasChanged = jar.advance(to: arrival.time)
        let isAllowed = arrival.question.isAllowed(by: policy, suffixes: suffixes)
        for cookie in arrival.cookies {
            do throws(CookieRefusal) {
                guard isAllowed else { throw CookieRefusal.policy }
                if try store(cookie, question: arrival.question, now: arrival.time) { hasChanged = true }
            } catch {
                refused += 1
            }
        }
        self.refused += refused
        return (refused, hasChanged)
    }

    private mutating func store(
        _ cookie: SetCookie,
        question: CookieQuestion,
        now: Int64
    ) throws(CookieRefusal) -> Bool {
        let content = try CookieAdmission.admit(
            cookie,
            from: question,
            now: now,
            suffixes: suffixes,
            limits: jar.limits
        )
        return try jar.store(content, isSecured: question.isSecured, now: now, suffixes: suffixes)
    }

    /// Stores cookies of the program.
    ///
    /// - Parameter question: The response that the program says they came with; nil if they are the program's own.
    /// - Returns: Whether the cookies have changed.
    package mutating func store(_ contents: [CookieContent], for question: CookieQuestion?, now: Int64) -> Bool {
        var hasChanged = jar.advance(to: now)
        for content in contents {
            let isNew = try? store(content, question: question, now: now)
            if isNew == nil { refused += 1 }
            if isNew == true { hasChanged = true }
        }
        jar.evictExcess()
        return hasChanged
    }

    private mutating func store(
        _ content: CookieContent,
        question: CookieQuestion?,
        now: Int64
    ) throws(CookieRefusal) -> Bool {
        guard let question else {
            if policy == .never { throw .policy }
            try CookieAdmission.check(content, suffixes: suffixes)
            return try jar.store(content, isSecured: true, now: now, suffixes: suffixes, isOneOfMany: true)
        }
        guard question.isAllowed(by: policy, suffixes: suffixes) else { throw .policy }
        try CookieAdmission.check(content, from: question, suffixes: suffixes)
        let isSecured = question.isSecured
        return try jar.store(content, isSecured: isSecured, now: now, suffixes: suffixes, isOneOfMany: true)
    }

    /// Removes the cookies that were first stored at that time or later, and those that wait without judging them.
    ///
    /// - Returns: Whether the cookies have changed.
    package mutating func removeAll(since first: Int64) -> Bool {
        let before = jar.count
        waiting.removeAll { $0.time >= first }
        jar.removeAll { $0.created >= first }
        return jar.count != before
    }
}

/// The cookies of a response, parsed before the lock is taken, the time it was received, and where it came from.
package struct CookieArrival: Sendable {
    fileprivate private(set) var cookies: [SetCookie] = []
    fileprivate private(set) var refused = 0
    fileprivate let question: CookieQuestion
    fileprivate let time: Int64

    /// Nil if the response sets no cookie.
    package init?(_ headers: HTTPHeaders, from question: CookieQuestion, at time: Int64) {
        self.question = question
        self.time = time
        headers.forEachValue(of: "Set-Cookie") { add($0) }
        if cookies.isEmpty, refused == 0 { return nil }
    }

    /// Nil if there is no line.
    package init?(_ lines: [[UInt8]], from question: CookieQuestion, at time: Int64) {
        if lines.isEmpty { return nil }
        self.question = question
        self.time = time
        for line in lines { line.withUnsafeBytes { add($0) } }
    }

    private mutating func add(_ line: UnsafeRawBufferPointer) {
        guard cookies.count < CookieLimits.standard.perResponse, let cookie = try? SetCookieParser.parse(line) else {
            refused += 1
            return
        }
        cookies.append(cookie)
    }
}
