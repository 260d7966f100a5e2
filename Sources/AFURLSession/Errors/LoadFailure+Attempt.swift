import AFTransport

extension LoadFailure {
    /// One address that was tried.
    public struct Attempt: Hashable, Sendable, CustomStringConvertible {
        /// Address and port, as in `192.0.2.1:80` or `[2001:db8::1]:443`.
        public let address: String
        /// How it ended.
        public let outcome: Outcome
        /// The error number of the system call that failed, if one did.
        public let errno: Int32?

        package init(address: String, outcome: Outcome, errno: Int32? = nil) {
            self.address = address
            self.outcome = outcome
            self.errno = errno
        }

        /// Address, outcome and the system's explanation.
        public var description: String { text(beside: "") }

        /// - Parameter message: What it says already: the explanation.
        func text(beside message: String) -> String {
            let explanation = errno.map(SystemErrorText.of).flatMap { message.contains($0) ? nil : " (\($0))" } ?? ""
            return "\(address): \(outcome.rawValue)\(explanation)"
        }
    }
}

extension LoadFailure.Attempt {
    /// How an attempt ended.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        /// The name of the outcome.
        public let rawValue: String

        /// Makes an outcome from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The connection was made; what failed came later.
        public static let connected = Outcome(rawValue: "connected")
        /// The system call failed; see the error number.
        public static let failed = Outcome(rawValue: "failed")
        /// The address did not answer in time.
        public static let timedOut = Outcome(rawValue: "timed out")
        /// The session's ``/AFTransport/AddressFilter`` forbids connecting to it.
        public static let forbidden = Outcome(rawValue: "forbidden")
        /// The way to it is by a cellular network, which may not be used.
        public static let cellular = Outcome(rawValue: "cellular")
        /// Given up because another address was faster or the load was cancelled.
        public static let abandoned = Outcome(rawValue: "abandoned")
    }
}

extension LoadFailure {
    /// Adds the other facts of the exchange: its timings, and the addresses that were tried before a timeout.
    mutating func add(_ account: LoadAccount) {
        timings = account.timings
        if reason == .timeout, attempts.isEmpty, [.resolving, .connecting, .proxy, .tls].contains(phase) {
            attempts = account.attempts.map(Attempt.init)
        }
    }
}
