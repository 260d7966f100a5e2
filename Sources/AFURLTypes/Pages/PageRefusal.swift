public import Foundation

/// Why a sequence of pages does not follow a link to the next one. There are more pages: what has been loaded is not all.
public struct PageRefusal: Error, Hashable, Sendable {
    /// What speaks against the next page.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// It, or the page that names it, has another origin than the first one.
        case otherOrigin
        /// It would be loaded in the clear, and the page that names it came over https.
        case plainText
        /// So many pages have been loaded.
        case limit(Int)
        /// No request can be made for it.
        case notLoadable
    }

    /// What speaks against it.
    public let reason: Reason
    /// The next page.
    public let url: URL
}

extension PageRefusal: LocalizedError, CustomStringConvertible {
    /// What happened, and what to change.
    public var description: String {
        let problem =
            switch reason {
            case .otherOrigin:
                "it has another origin than the first page, or the page before it has: allow other origins if you trust "
                    + "the server to choose them"
            case .plainText: "it leads from https to http: ask the server's operator to link to https"
            case .limit(let count): "\(count) pages have been loaded: raise the limit if there are so many"
            case .notLoadable: "it is no URL that a session can load"
            }
        return "The next page \(SecretNames.masked(url)) was not loaded: \(problem)."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
