extension LoadFailure {
    /// The step of a load at which it failed.
    public struct Phase: RawRepresentable, Hashable, Sendable {
        /// The name of the phase.
        public let rawValue: String

        /// Makes a phase from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Checking the request and turning it into bytes.
        public static let preparing = Phase(rawValue: "preparing")
        /// Waiting for a connection to become free.
        public static let queued = Phase(rawValue: "queued")
        /// Waiting for a network.
        public static let waitingForConnectivity = Phase(rawValue: "waitingForConnectivity")
        /// Looking up the addresses of the host.
        public static let resolving = Phase(rawValue: "resolving")
        /// Connecting to one of the addresses.
        public static let connecting = Phase(rawValue: "connecting")
        /// Reaching the server through a proxy: connecting to the proxy, securing that connection, asking for a tunnel.
        public static let proxy = Phase(rawValue: "proxy")
        /// Securing the connection.
        public static let tls = Phase(rawValue: "tls")
        /// Sending head or body.
        public static let sending = Phase(rawValue: "sending")
        /// Waiting for the head of the response.
        public static let waitingForHead = Phase(rawValue: "waitingForHead")
        /// Receiving the body of the response.
        public static let receivingBody = Phase(rawValue: "receivingBody")
        /// Handing the result to the caller.
        public static let delivering = Phase(rawValue: "delivering")
    }
}
