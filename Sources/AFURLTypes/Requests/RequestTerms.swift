import AFBase
import AFWire
package import Foundation

/// The settings of a request beside its URL, method, fields and body, as far as they can be archived.
///
/// Archived requests and those in resume data get them back: what such a request withheld must stay withheld.
package struct RequestTerms: Hashable, Sendable, Codable {
    private var cachePolicy: UInt?
    private var timeout: Seconds?
    private var resourceTimeout: Seconds?
    private var queueTimeout: Seconds?
    private var usesPipelining: Bool?
    private var serviceType: UInt?
    private var sendRate: Int?
    private var allowsCellular: Bool
    private var handlesCookies: Bool
    private var addsStoredCookies: Bool
    private var mainDocument: String?
    private var withheldFields: Set<String>
    // Archives of former versions lack these three.
    private var keepsCoding: Bool?
    private var sendsBodyWithAnyMethod: Bool?
    private var hints: RequestHints?
    private var usesHTTP10: Bool
    private var redirects: RedirectPolicy?
    private var skipsSessionInterceptors: Bool

    /// Any double, because JSON has no infinity and no NaN.
    private struct Seconds: Hashable, Codable {
        let bits: UInt64

        init(_ value: TimeInterval) { bits = value.bitPattern }

        var value: TimeInterval { TimeInterval(bitPattern: bits) }
    }

    package init(of request: URLRequest) {
        let contents = request.contents
        let (limits, wire) = (contents.limits.value, contents.wire.value)
        cachePolicy = contents.explicitCachePolicy?.rawValue
        timeout = contents.explicitTimeout.map(Seconds.init)
        resourceTimeout = limits.resourceTimeout.map(Seconds.init)
        queueTimeout = limits.queueTimeout.map(Seconds.init)
        usesPipelining = contents.explicitPipelining
        serviceType = limits.serviceType?.rawValue
        sendRate = limits.sendRate
        allowsCellular = limits.allowsCellular
        handlesCookies = contents.cookies.isHandled
        addsStoredCookies = wire.addsStoredCookies
        mainDocument = contents.cookies.mainDocumentURL?.absoluteString
        withheldFields = wire.withheld
        keepsCoding = wire.keepsCoding ? true : nil
        sendsBodyWithAnyMethod = wire.sendsBodyWithAnyMethod ? true : nil
        hints = contents.hints == .usual ? nil : contents.hints.value
        usesHTTP10 = wire.version == .http10
        redirects = contents.redirectPolicy
        skipsSessionInterceptors = contents.interception.value.skipsSession
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
        (cachePolicy.map { URLRequest.CachePolicy(rawValue: $0) != nil } ?? true)
            && (serviceType.map { URLRequest.NetworkServiceType(rawValue: $0) != nil } ?? true)
            && (mainDocument.map { URL(string: $0) != nil } ?? true)
    }

    /// Applies the settings to a request.
    package func apply(to request: inout URLRequest) {
        request.change { contents in
            contents.explicitCachePolicy = cachePolicy.flatMap { URLRequest.CachePolicy(rawValue: $0) }
            contents.explicitTimeout = timeout?.value
            contents.explicitPipelining = usesPipelining
            contents.limits.value.resourceTimeout = resourceTimeout?.value
            contents.limits.value.queueTimeout = queueTimeout?.value
            contents.limits.value.serviceType = serviceType.flatMap { URLRequest.NetworkServiceType(rawValue: $0) }
            contents.limits.value.sendRate = sendRate
            contents.limits.value.allowsCellular = allowsCellular
            contents.hints.value = hints ?? RequestHints()
            contents.cookies.isHandled = handlesCookies
            contents.cookies.mainDocumentURL = mainDocument.flatMap { URL(string: $0) }
            contents.wire.value.addsStoredCookies = addsStoredCookies
            contents.wire.value.withheld = Set(withheldFields.map(ASCII.lowered))
            contents.wire.value.keepsCoding = keepsCoding ?? false
            contents.wire.value.sendsBodyWithAnyMethod = sendsBodyWithAnyMethod ?? false
            contents.wire.value.version = usesHTTP10 ? .http10 : .http11
            contents.redirectPolicy = redirects
            contents.interception.value.skipsSession = skipsSessionInterceptors
        }
    }
}
