/// Which redirects a session follows, and what goes along.
///
/// An *origin* is a scheme, a host and a port. Whatever crosses from one to another goes without its secrets, whoever
/// is asked, and whatever is allowed here.
public struct RedirectPolicy: Hashable, Sendable {
    /// Whether redirects are followed at all. True. If not, each is the answer of its task, with its body, and no
    /// delegate is asked.
    public var followsRedirects = true

    /// How many redirects one task follows; the next one fails it with `URLError.httpTooManyRedirects`. 20; less than
    /// 0 means 0.
    public var maximumCount = 20

    /// Whether a redirect may lead from https to http, where anybody on the way can read and change what follows.
    /// False: such a redirect fails the task.
    public var allowsPlainText = false

    /// Whether the body of a request may be sent on to another origin (307 and 308). False: the delegate is asked, and
    /// where there is none to ask, such a redirect fails the task.
    public var sendsBodyToOtherOrigins = false

    /// Whether `http://host` and `https://host`, both at their standard ports, count as one origin for a redirect
    /// from the former to the latter. False.
    public var keepsSecretsOnUpgrade = false

    /// Further header fields, by name, that do not follow to another origin. `Authorization`, `Cookie`, `Cookie2`,
    /// `Proxy-…`, `WWW-Authenticate`, `X-Api-Key`, `X-Auth-Token` and `Referer` never do.
    public var sensitiveFields: Set<String> = []

    /// The standard policy.
    public init() {}

    /// Whether a header field of this name, in any case, does not follow to another origin.
    public func withholds(_ name: String) -> Bool { RedirectRules.isSecret(name, to: self) }
}
