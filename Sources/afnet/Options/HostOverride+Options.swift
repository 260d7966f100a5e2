import AFURLSession

extension HostOverride {
    /// `--resolve HOST:PORT:ADDRESS[,ADDRESS]...`; curl has a `+` in front for entries that do not last, which is all of them
    /// here.
    init(resolve text: String, of name: String) throws(ArgumentError) {
        var rest = text[...]
        if rest.hasPrefix("+") { rest.removeFirst() }
        let host = Self.takeHost(&rest)
        let port = Self.takePart(&rest)
        guard let host, let port, let number = Self.port(port), !host.isEmpty,
            let made = HostOverride(
                host: host == "*" ? nil : host,
                port: number,
                toAddresses: rest.split(separator: ",", omittingEmptySubsequences: false).map(Self.bare)
            )
        else {
            throw .badPlace(
                "\(name) needs HOST:PORT:ADDRESS[,ADDRESS...], where ADDRESS is of IPv4 or IPv6, not \"\(text)\""
            )
        }
        self = made
    }

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
    private static func takeHost(_ rest: inout Substring) -> String? {
        guard rest.hasPrefix("[") else { return takePart(&rest).map(String.init) }
        guard let bracket = rest.firstIndex(of: "]") else { return nil }
        let host = rest[...bracket]
        rest = rest[host.endIndex...]
        guard rest.first == ":" else { return nil }
        rest.removeFirst()
        return String(host)
    }

    private static func takePart(_ rest: inout Substring) -> Substring? {
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        defer { rest = rest[colon...].dropFirst() }
        return rest[..<colon]
    }

    private static func bare(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }

    private static func port(_ text: Substring) -> Int? {
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
