extension RecordedRequest {
    /// The first query item of that name, percent-decoded.
    func argument(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// A whole number of the query, not below zero.
    func count(_ name: String) -> Int? {
        argument(name).flatMap(DecimalText.count)
    }

    /// A time in seconds of the query, such as `0.25`.
    func duration(_ name: String) -> Duration? {
        argument(name).flatMap(DecimalText.duration)
    }

    /// A whole number that a `:name` of the pattern stands for.
    func countInPath(_ name: String) -> Int? {
        parameters[name].flatMap(DecimalText.count)
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
