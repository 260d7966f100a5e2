import AFWire
public import Foundation

/// A link of a response to another resource (RFC 8288): a line of the field `Link`.
public struct ResponseLink: Hashable, Sendable {
    /// Where it leads. A relative target is resolved against the URL of the response.
    public let url: URL
    /// What is there, seen from the resource: `next`, `canonical`, or a URL. In lower case; one link may have several.
    public let relations: [String]
    /// Whose link it is, if it is not that of the resource that was asked for.
    public let anchor: URL?
    /// Its other attributes by name, in lower case: `type`, `hreflang`, `media` and others.
    public let attributes: [String: String]

    /// A name for people, in any script.
    public var title: String? { attributes["title"] }
}

extension HTTPURLResponse {
    /// The links of the response, in order: those of the fields `Link`, up to 256. Made anew each time you ask.
    ///
    /// They are read as RFC 8288 asks for: what is malformed is left out, and so is a target that is no URL. Nothing is
    /// loaded.
    public var links: [ResponseLink] {
        guard let base = try? RequestURL(url?.absoluteString ?? "") else { return [] }
        return LinkValue.list(in: headers).compactMap { link in
            guard let url = Self.resolve(link.target, against: base) else { return nil }
            let anchor = link.anchor.map { Self.resolve($0, against: base) }
            // What an anchor names that cannot be read is not this resource.
            if case .some(nil) = anchor { return nil }
            let isOwn = anchor == URL(string: base.localText)
            return ResponseLink(
                url: url,
                relations: link.relations,
                anchor: isOwn ? nil : anchor ?? nil,
                attributes: link.attributes
            )
        }
    }

    /// Where the first link of the resource with this relation leads, such as `next`. Links of other resources
    /// (``ResponseLink/anchor``) do not count.
    public func link(_ relation: String) -> URL? {
        links.first { link in
            link.anchor == nil && link.relations.contains { HTTPText.isSameName($0, other: relation) }
        }?.url
    }

    /// A target of another scheme than http and https is a URL as it stands.
    private static func resolve(_ reference: [UInt8], against base: RequestURL) -> URL? {
        do throws(RequestRejection) {
            let resolved = reference.withUnsafeBytes { bytes in
                Result { () throws(RequestRejection) in
                    try URLReference(ByteScanning.trimmingOWS(bytes), relativeTo: base)
                }
            }
            return URL(string: try resolved.get().text)
        } catch {
            return error.rule == .notHTTP ? URL(string: String(decoding: reference, as: UTF8.self)) : nil
        }
    }
}
