import AFURLSession

/// One value of `--resolve`: `HOST:PORT:ADDRESS[,ADDRESS]...`, or `-HOST:PORT`, which takes out what another one said.
/// curl has a `+` in front for entries that do not last, which is all of them here.
struct ResolvedHost: Sendable, Equatable {
    /// In lower case, with its brackets; `*` is any host.
    private let host: String
    private let port: Int
    /// Nil if it takes out.
    let override: HostOverride?

    init(_ text: String, of name: String) throws(ArgumentError) {
        var rest = text[...]
        let isRemoved = rest.first == "-"
        if isRemoved || rest.first == "+" { rest.removeFirst() }
        // One that takes out has all that a value has but the addresses.
        if isRemoved { rest += ":" }
        guard let host = HostOverride.takeHost(&rest), !host.isEmpty,
            let number = HostOverride.takePart(&rest).flatMap(HostOverride.port),
            let made = HostOverride(
                host: host == "*" ? nil : host,
                port: number,
                toAddresses: isRemoved
                    ? ["0.0.0.0"] : rest.split(separator: ",", omittingEmptySubsequences: false).map(HostOverride.bare)
            ),
            !isRemoved || rest.isEmpty
        else {
            throw .badPlace(
                "\(name) needs HOST:PORT:ADDRESS[,ADDRESS...], where ADDRESS is of IPv4 or IPv6, or -HOST:PORT, not \"\(text)\""
            )
        }
        self.host = host.lowercased()
        port = number
        override = isRemoved ? nil : made
    }

    var isForAny: Bool { host == "*" }

    func isForSamePlace(as other: ResolvedHost) -> Bool { host == other.host && port == other.port }
}

extension HostOverride {
    /// `--connect-to HOST:PORT:OTHERHOST:OTHERPORT`; each part may be empty.
    init(connectTo text: String, of name: String) throws(ArgumentError) {
        var rest = text[...]
        guard let host = Self.takeHost(&rest), let port = Self.takePart(&rest), let other = Self.takeHost(&rest),
            let ports = Self.ports([port, rest]),
            let made = HostOverride(
                host: host.isEmpty ? nil : host,
                port: ports[0],
                toHost: other.isEmpty ? nil : other,
                toPort: ports[1]
            )
        else {
            throw .badPlace("\(name) needs HOST:PORT:OTHERHOST:OTHERPORT, each of which may be empty, not \"\(text)\"")
        }
        self = made
    }

    /// Takes a host and the colon after it. A host in brackets may contain colons. Nil if there is no host.
    fileprivate static func takeHost(_ rest: inout Substring) -> String? {
        guard rest.hasPrefix("[") else { return takePart(&rest).map(String.init) }
        guard let bracket = rest.firstIndex(of: "]") else { return nil }
        let host = rest[...bracket]
        rest = rest[host.endIndex...]
        guard rest.first == ":" else { return nil }
        rest.removeFirst()
        return String(host)
    }

    fileprivate static func takePart(_ rest: inout Substring) -> Substring? {
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        defer { rest = rest[colon...].dropFirst() }
        return rest[..<colon]
    }

    fileprivate static func bare(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }

    fileprivate static func port(_ text: Substring) -> Int? {
        text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
    }

    /// Nil if a text is not a port. An empty text is any port.
    private static func ports(_ texts: [Substring]) -> [Int?]? {
        var ports: [Int?] = []
        for text in texts {
            guard !text.isEmpty else {
                ports.append(nil)
                continue
            }
            guard let number = port(text) else { return nil }
            ports.append(number)
        }
        return ports
    }
}

extension ArgumentError {
    fileprivate static func badPlace(_ message: String) -> ArgumentError {
        ArgumentError(code: .badPlace, message: message)
    }
}
