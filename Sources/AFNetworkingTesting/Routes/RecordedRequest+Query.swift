extension RecordedRequest {
    /// The first query item of that name, percent-decoded.
    func argument(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// A whole number of the query, not below zero.
    func count(_ name: String) -> Int? {
        argument(name).flatMap(PathNumber.count)
    }

    /// A time in seconds of the query, such as `0.25`.
    func duration(_ name: String) -> Duration? {
        argument(name).flatMap(PathNumber.duration)
    }

    /// A whole number that a `:name` of the pattern stands for.
    func countInPath(_ name: String) -> Int? {
        parameters[name].flatMap(PathNumber.count)
    }

    /// What the client believes to be the scheme and authority of this server.
    var origin: String {
        (isSecure ? "https" : "http") + "://" + (headers["Host"] ?? "localhost")
    }

    /// What the client asked for, as a whole.
    var absoluteTarget: String {
        target.utf8.first == UInt8(ascii: "/") ? origin + target : target
    }
}

/// The numbers that ready-made routes take from paths and queries.
enum PathNumber {
    /// The largest number taken; sums of a few such numbers do not overflow.
    private static let ceiling = 1 << 60

    static func count(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text)
        else { return nil }
        return number <= ceiling ? number : nil
    }

    /// Seconds with or without a fraction; at most a day, which no test outlasts.
    static func duration(_ text: String) -> Duration? {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else { return nil }
        return .nanoseconds(Int64(seconds * 1_000_000_000))
    }
}

extension ServerReply {
    /// The answer to a ready-made route that was used wrongly.
    static func misuse(_ what: String) -> ServerReply {
        .text("this route wants \(what)\n").status(400)
    }

    /// A JSON document that routes made.
    static func json(_ value: JSONText) -> ServerReply {
        .json(value.text + "\n")
    }
}
