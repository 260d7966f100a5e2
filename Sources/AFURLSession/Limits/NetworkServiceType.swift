import AFTransport

extension URLRequest {
    /// What a request is for, as far as routers and the queues of this machine may want to know.
    ///
    /// Packets of its connection carry the code point that RFC 4594 and RFC 8622 give to that use, and the connection a
    /// priority of this machine's (`SO_PRIORITY`). Whether a network honours either is its owner's affair. Requests of
    /// different types do not share connections.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic: nothing is marked.
        case `default` = 0
        /// A call. Use ``callSignaling`` to set one up.
        case voip = 1
        /// A picture of somebody who talks.
        case video = 2
        /// Nobody waits for it (code point LE).
        case background = 3
        /// A voice (EF).
        case voice = 4
        /// Small things somebody waits for (AF21).
        case responsiveData = 6
        /// Sound and pictures that are buffered (AF31).
        case avStreaming = 8
        /// Sound and pictures somebody answers to (AF41).
        case responsiveAV = 9
        /// Setting up a call (CS5).
        case callSignaling = 11

        /// ``callSignaling`` by its other name.
        public static var networkServiceTypeCallSignaling: NetworkServiceType { .callSignaling }

        var marking: PacketMarking { PacketMarking(codePoint: codePoint, priority: priority) }

        /// The six bits of RFC 2474.
        private var codePoint: UInt8 {
            switch self {
            case .default: 0
            case .background: 1
            case .responsiveData: 18
            case .avStreaming: 26
            case .video, .responsiveAV: 34
            case .callSignaling: 40
            case .voip, .voice: 46
            }
        }

        /// From 0 to 6: what any process may ask for.
        private var priority: UInt8 {
            switch self {
            case .default: 0
            case .background: 1
            case .avStreaming: 4
            case .responsiveData: 5
            case .video, .responsiveAV, .callSignaling, .voip, .voice: 6
            }
        }
    }
}
