extension SecurityPolicy {
    /// Something about a policy that deserves a look.
    public struct Finding: Hashable, Sendable, CustomStringConvertible {
        /// How much it deserves one.
        @nonexhaustive
        public enum Severity: Int, Hashable, Sendable, Comparable {
            /// May well be meant like that.
            case note
            /// Will cut users off one day, or protects less than it seems to.
            case warning
            /// Protects nothing, or lets nothing through.
            case error

            /// From note to error.
            public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
        }

        /// The kind of finding. An open set: expect others than you know.
        public struct Kind: RawRepresentable, Hashable, Sendable {
            /// A stable word for it.
            public let rawValue: String

            /// A kind by its word.
            public init(rawValue: String) {
                self.rawValue = rawValue
            }

            /// Nothing is left to pin if the key in use is lost.
            public static let noBackupPin = Kind(rawValue: "noBackupPin")
            /// A pin is in use and a backup at once.
            public static let sharedBackupPin = Kind(rawValue: "sharedBackupPin")
            /// There is no pin where one is asked for.
            public static let emptyPinSet = Kind(rawValue: "emptyPinSet")
            /// The set of pins has ended.
            public static let expiredPinSet = Kind(rawValue: "expiredPinSet")
            /// The set of pins ends within 30 days.
            public static let expiringPinSet = Kind(rawValue: "expiringPinSet")
            /// A pinned certificate has expired or does so within 30 days.
            public static let expiringCertificate = Kind(rawValue: "expiringCertificate")
            /// A pinned certificate cannot be read.
            public static let unreadablePin = Kind(rawValue: "unreadablePin")
            /// A pinned certificate is an authority, and the form of its fields breaks a rule: see `AuthorityFlaw`.
            public static let flawedAuthority = Kind(rawValue: "flawedAuthority")
            /// Certificates were given, but the mode pins nothing.
            public static let unusedPins = Kind(rawValue: "unusedPins")
            /// A host with pins is meant to be talked to without TLS.
            public static let plainText = Kind(rawValue: "plainText")
            /// Two rules are for the very same hosts.
            public static let duplicateRule = Kind(rawValue: "duplicateRule")
            /// Two rules match some host, and the more specific one counts there.
            public static let overlappingRules = Kind(rawValue: "overlappingRules")
            /// A rule is for a whole top-level domain.
            public static let broadPattern = Kind(rawValue: "broadPattern")
            /// A rule only reports, and there is no report handler.
            public static let unheardReports = Kind(rawValue: "unheardReports")
            /// Only the key counts: not the chain, not the dates, not the name.
            public static let keyAlone = Kind(rawValue: "keyAlone")
            /// Invalid certificates are allowed, and nothing is pinned.
            public static let noAuthentication = Kind(rawValue: "noAuthentication")
            /// Certificates are not checked for the host.
            public static let noNameCheck = Kind(rawValue: "noNameCheck")
            /// Hosts without a rule are refused, and there is no rule.
            public static let noRules = Kind(rawValue: "noRules")
        }

        /// How much it deserves a look.
        public let severity: Severity
        /// The kind of finding.
        public let kind: Kind
        /// The hosts of the rule it is about; nil if it is about the policy itself.
        public let hosts: HostPattern?
        /// What is wrong, and what to do.
        public let message: String

        /// Everything, in one line.
        public var description: String {
            "\(severity): \(hosts.map { "\($0): " } ?? "")\(message) (\(kind.rawValue))"
        }
    }
}
