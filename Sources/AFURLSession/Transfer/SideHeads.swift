import AFWire

/// What came beside the head and the body of a response: hardly any has it.
final class SideHeads: Sendable {
    let interim: [ResponseHead]
    let trailers: HTTPHeaders?

    private init(_ interim: [ResponseHead], _ trailers: HTTPHeaders?) {
        self.interim = interim
        self.trailers = trailers
    }

    static func adding(_ head: ResponseHead, to others: SideHeads?) -> SideHeads {
        SideHeads((others?.interim ?? []) + [head], others?.trailers)
    }

    static func adding(_ trailers: HTTPHeaders, to others: SideHeads?) -> SideHeads {
        SideHeads(others?.interim ?? [], trailers)
    }
}
