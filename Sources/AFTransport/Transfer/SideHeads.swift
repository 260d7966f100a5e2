package import AFWire

/// The interim responses and the trailers of a response: hardly any has them.
package final class SideHeads: Sendable {
    package let interim: [ResponseHead]
    package let trailers: HTTPHeaders?

    private init(interim: [ResponseHead], trailers: HTTPHeaders?) {
        self.interim = interim
        self.trailers = trailers
    }

    package static func adding(_ head: ResponseHead, to others: SideHeads?) -> SideHeads {
        SideHeads(interim: (others?.interim ?? []) + [head], trailers: others?.trailers)
    }

    package static func adding(_ trailers: HTTPHeaders, to others: SideHeads?) -> SideHeads {
        SideHeads(interim: others?.interim ?? [], trailers: trailers)
    }
}
