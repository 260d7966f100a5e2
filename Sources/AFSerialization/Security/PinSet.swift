public import Foundation

/// The pins for one kind of hosts: some member of a server's chain must match one of them.
///
/// ```swift
/// let pins = try PinSet(
///     ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="],
///     backups: ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="]
/// )
/// ```
public struct PinSet: Hashable, Sendable {
    /// What is in use.
    public var pins: [Pin]
    /// Keys that are kept elsewhere, unused, for the day on which one in use is lost. They
    /// are accepted like the others.
    public var backupPins: [Pin]
    /// When the set ends. Nil, the default: never.
    public var expiry: Expiry?
    /// Whether a server without a pinned member is only reported, and accepted like one
    /// without pins. False. See ``SecurityPolicy/reportHandler``.
    public var isReportOnly = false

    /// When a set of pins ends, and what then.
    public struct Expiry: Hashable, Sendable, Codable {
        /// The last moment at which the pins are good.
        public var date: Date
        /// What happens to servers after it.
        public var choice: Choice

        /// An end, with the choice of what happens then. The choice has no default, since none suits all programs.
        public init(_ date: Date, _ choice: Choice) {
            self.date = date
            self.choice = choice
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case date
            case choice
        }

        /// Reads an end. A name that means nothing is an error.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(withOnly: CodingKeys.self)
            date = try container.decode(Date.self, forKey: .date)
            choice = try container.decode(Choice.self, forKey: .choice)
        }
    }

    /// What a set of pins means after its end.
    @nonexhaustive
    public enum Choice: String, Hashable, Sendable, Codable {
        /// Servers are accepted as if they were not pinned: for programs that get no updates, and would be cut off
        /// otherwise.
        case failOpen
        /// Every server is refused.
        case failClosed
    }

    /// A set of pins of any kind.
    public init(_ pins: [Pin], backups: [Pin] = [], expiry: Expiry? = nil) {
        self.pins = pins
        backupPins = backups
        self.expiry = expiry
    }

    /// A set of public keys, given as `sha256/…`.
    public init(_ pins: [String], backups: [String] = [], expiry: Expiry? = nil) throws(PinError) {
        self.init(try Self.read(pins), backups: try Self.read(backups), expiry: expiry)
    }

    private static func read(_ texts: [String]) throws(PinError) -> [Pin] {
        var pins: [Pin] = []
        for text in texts { pins.append(try Pin(text)) }
        return pins
    }

    var all: [Pin] { pins + backupPins }

    /// Whether one of these certificates is pinned.
    ///
    /// - Parameter chain: Certificates that are proven, as in `TrustEvaluation.verifiedChain`.
    public func matches(_ chain: [Certificate]) -> Bool {
        all.contains { pin in chain.contains { pin.matches($0) } }
    }

    /// Whether it has ended at this moment.
    public func isExpired(at date: Date) -> Bool {
        expiry.map { $0.date < date } ?? false
    }
}

extension PinSet: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pins
        case backupPins
        case expiry
        case isReportOnly
    }

    /// Reads what `encode(to:)` wrote. A set enforces its pins and has no end unless it says otherwise. A name that means
    /// nothing is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(withOnly: CodingKeys.self)
        self.init(
            try container.decode([Pin].self, forKey: .pins),
            backups: try container.decodeIfPresent([Pin].self, forKey: .backupPins) ?? [],
            expiry: try container.decodeIfPresent(Expiry.self, forKey: .expiry)
        )
        isReportOnly = try container.decodeIfPresent(Bool.self, forKey: .isReportOnly) ?? false
    }
}
