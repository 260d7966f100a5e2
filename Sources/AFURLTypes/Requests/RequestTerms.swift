import AFBase
import AFWire
package import Foundation

/// The settings of a request beside its URL, method, fields and body, as far as they can be archived.
///
/// Archived requests and those in resume data get them back: what such a request withheld must stay withheld.
package struct RequestTerms: Hashable, Sendable {
    private let limits: RequestLimits
    private let rest: Rest

    private struct Rest: Hashable, Sendable, Codable {
        let cachePolicy: UInt?
        let timeout: RequestLimits.Seconds?
        let usesPipelining: Bool?
        let handlesCookies: Bool
        let addsStoredCookies: Bool
        let mainDocument: String?
        let withheldFields: Set<String>
        // Archives of former versions lack these four.
        let bodyCoding: BodyCoding?
        let keepsCoding: Bool?
        let sendsBodyWithAnyMethod: Bool?
        let hints: RequestHints?
        let usesHTTP10: Bool
        let redirects: RedirectPolicy?
        let skipsSessionInterceptors: Bool
    }

    package init(of request: URLRequest) {
        let contents = request.contents
        let wire = contents.wire.value
        limits = contents.limits.value
        rest = Rest(
            cachePolicy: contents.explicitCachePolicy?.rawValue,
            timeout: contents.explicitTimeout.map(RequestLimits.Seconds.init),
            usesPipelining: contents.explicitPipelining,
            handlesCookies: contents.cookies.isHandled,
            addsStoredCookies: wire.addsStoredCookies,
            mainDocument: contents.cookies.mainDocumentURL?.absoluteString,
            withheldFields: wire.withheld,
            bodyCoding: wire.bodyCoding,
            keepsCoding: wire.keepsCoding ? true : nil,
            sendsBodyWithAnyMethod: wire.sendsBodyWithAnyMethod ? true : nil,
            hints: contents.hints == .usual ? nil : contents.hints.value,
            usesHTTP10: wire.version == .http10,
            redirects: contents.redirectPolicy,
            skipsSessionInterceptors: contents.interception.value.skipsSession
        )
    }

    /// Nil if the data does not come from ``encoded``, or has a value that no request can have.
    package init?(_ data: Data) {
        guard let terms = try? JSONDecoder().decode(RequestTerms.self, from: data), terms.areKnown else { return nil }
        self = terms
    }

    package var encoded: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // It has only numbers, text and sets of text, which JSON can always hold.
        return (try? encoder.encode(self)) ?? Data()
    }

    private var areKnown: Bool {
        (rest.cachePolicy.map { URLRequest.CachePolicy(rawValue: $0) != nil } ?? true)
            && (limits.serviceType.map { URLRequest.NetworkServiceType(rawValue: $0) != nil } ?? true)
            && (rest.mainDocument.map { URL(string: $0) != nil } ?? true)
    }

    /// Applies the settings to a request.
    package func apply(to request: inout URLRequest) {
        request.change { contents in
            contents.limits.value = limits
            contents.explicitCachePolicy = rest.cachePolicy.flatMap { URLRequest.CachePolicy(rawValue: $0) }
            contents.explicitTimeout = rest.timeout?.value
            contents.explicitPipelining = rest.usesPipelining
            contents.hints.value = rest.hints ?? RequestHints()
            contents.cookies.isHandled = rest.handlesCookies
            contents.cookies.mainDocumentURL = rest.mainDocument.flatMap { URL(string: $0) }
            contents.wire.value.addsStoredCookies = rest.addsStoredCookies
            contents.wire.value.withheld = Set(rest.withheldFields.map(ASCII.lowered))
            contents.wire.value.bodyCoding = rest.bodyCoding
            contents.wire.value.keepsCoding = rest.keepsCoding ?? false
            contents.wire.value.sendsBodyWithAnyMethod = rest.sendsBodyWithAnyMethod ?? false
            contents.wire.value.version = rest.usesHTTP10 ? .http10 : .http11
            contents.redirectPolicy = rest.redirects
            contents.interception.value.skipsSession = rest.skipsSessionInterceptors
        }
    }
}

// Archives have all of it in one object.
extension RequestTerms: Codable {
    package init(from decoder: any Decoder) throws {
        (limits, rest) = (try RequestLimits(from: decoder), try Rest(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws {
        try limits.encode(to: encoder)
        try rest.encode(to: encoder)
    }
}
