/// What some hosts must show, beyond a chain that is valid and names them.
///
/// ```swift
/// policy.hostRules = [
///     try .pins("**.example.com", pins),
///     try .noPins("cdn.example.com"),
/// ]
/// ```
public struct HostRule: Hashable, Sendable {
    /// What is asked of a host.
    @nonexhaustive
    public enum Requirement: Hashable, Sendable {
        /// Its chain has one of these pins.
        case pins(PinSet)
        /// No pin, on purpose.
        case noPins
    }

    /// The hosts it is for: `api.example.com`, `*.example.com` or `**.example.com`.
    public let hosts: HostPattern
    /// What is asked of them.
    public let requirement: Requirement

    /// A rule.
    public init(_ hosts: HostPattern, _ requirement: Requirement) {
        self.hosts = hosts
        self.requirement = requirement
    }

    /// A rule that asks for a pin.
    public static func pins(_ hosts: String, _ pins: PinSet) throws(HostPatternError) -> HostRule {
        HostRule(try HostPattern(hosts), .pins(pins))
    }

    /// A rule that asks for none, for hosts which a broader rule, or the policy itself, would ask for one.
    public static func noPins(_ hosts: String) throws(HostPatternError) -> HostRule {
        HostRule(try HostPattern(hosts), .noPins)
    }

    var pinSet: PinSet? {
        if case .pins(let set) = requirement { return set }
        return nil
    }

    /// Whether it refuses servers without a pin.
    var isStrict: Bool { pinSet.map { !$0.isReportOnly } ?? false }
}

extension HostRule: CustomStringConvertible {
    /// The hosts, and how many pins they have.
    public var description: String {
        switch requirement {
        case .pins(let set): "\(hosts): \(set.all.count) pins\(set.isReportOnly ? ", report only" : "")"
        case .noPins: "\(hosts): no pins"
        }
    }
}

extension HostRule: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hosts
        case pins
        case noPins
    }

    /// Reads a rule: `hosts`, and either `pins` or `noPins` with the value true. Any other name is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(withOnly: CodingKeys.self)
        let pattern = try container.decode(String.self, forKey: .hosts)
        do {
            hosts = try HostPattern(pattern)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .hosts,
                in: container,
                debugDescription: error.description
            )
        }
        let set = try container.decodeIfPresent(PinSet.self, forKey: .pins)
        let hasNone = try container.decodeIfPresent(Bool.self, forKey: .noPins) ?? false
        switch (set, hasNone) {
        case (let set?, false): requirement = .pins(set)
        case (nil, true): requirement = .noPins
        case (nil, false), (.some, true):
            throw DecodingError.dataCorruptedError(
                forKey: .pins,
                in: container,
                debugDescription: "the rule for \(pattern) needs either pins, or noPins with the value true"
            )
        }
    }

    /// Writes what `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hosts.description, forKey: .hosts)
        switch requirement {
        case .pins(let set): try container.encode(set, forKey: .pins)
        case .noPins: try container.encode(true, forKey: .noPins)
        }
    }
}
