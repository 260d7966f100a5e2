package import AFRequest

extension URLRequest {
    /// What a request is for, so that routers and the queues of this machine can give it the right priority.
    ///
    /// The packets of its connection carry the code point that RFC 4594 and RFC 8622 give to that use, and the
    /// connection gets a priority on this machine (`SO_PRIORITY`). Each network decides whether it honours them.
    /// Requests of different types do not share connections.
    @nonexhaustive
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic: the session marks nothing.
        case `default` = 0
        /// A call. Use ``callSignaling`` to set one up.
        case voip = 1
        /// The picture of a video call.
        case video = 2
        /// Traffic that no user waits for (code point LE).
        case background = 3
        /// A voice (EF).
        case voice = 4
        /// Small transfers that a user waits for (AF21).
        case responsiveData = 6
        /// Sound and pictures that are buffered (AF31).
        case avStreaming = 8
        /// Sound and pictures that a user reacts to (AF41).
        case responsiveAV = 9
        /// Setting up a call (CS5).
        case callSignaling = 11

        /// ``callSignaling`` by its other name.
        public static var networkServiceTypeCallSignaling: NetworkServiceType { .callSignaling }

        package var marking: PacketMarking { PacketMarking(codePoint: codePoint, priority: priority) }

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
