extension RecordedRequest {
    /// The first query item of that name, percent-decoded.
    func argument(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// A number in the query, 0 or more.
    func count(_ name: String) -> Int? {
        argument(name).flatMap(DecimalText.count)
    }

    /// A number of seconds in the query, such as `0.25`.
    func duration(_ name: String) -> Duration? {
        argument(name).flatMap(DecimalText.duration)
    }

    /// A number that a `:name` of the pattern stands for, 0 or more.
    func countInPath(_ name: String) -> Int? {
        parameters[name].flatMap(DecimalText.count)
    }

    /// Scheme and authority of this server as the client sent them.
    var origin: String {
        (isSecure ? "https" : "http") + "://" + (headers["Host"] ?? "localhost")
    }

    /// The whole URL that the client asked for.
    var absoluteTarget: String {
        target.utf8.first == UInt8(ascii: "/") ? origin + target : target
    }
}

extension ServerReply {
    /// The answer to a malformed request for a ready-made route.
    static func misuse(_ what: String) -> ServerReply {
        .text("this route wants \(what)\n").status(400)
    }

    /// A JSON document of a ready-made route.
    static func json(_ value: JSONText) -> ServerReply {
        .json(value.text + "\n")
    }
}
