import AFTestSupport
package import AFTransport
package import AFWire
package import Foundation

extension WireRequest {
    /// A request as the transport gets it, without the types of users.
    package convenience init(
        _ method: String,
        _ url: String,
        body: Data? = nil,
        fields: [String: String] = [:],
        defaults: HeaderDefaults,
        rate: Int? = nil
    ) throws {
        let fields = RequestFields(fields)
        var head = try RequestHead(
            url: RequestURL(url),
            method: method,
            traits: MethodTraits(method),
            fields: fields,
            defaults: defaults
        )
        try head.add(fields, hasBody: body != nil)
        head.add(defaults, lackingIn: fields)
        var limits = OwnLimits.usual
        limits.value.sendRate = rate
        self.init(
            head: head,
            body: Body(data: body, framing: body.map { .length($0.count) } ?? .none, isStreamed: false),
            terms: Terms(idleInterval: nil, asksForPipelining: nil, limits: limits, answer: AnswerTerms()),
            location: try need(URL(string: url)),
            defaults: defaults
        )
    }
}
