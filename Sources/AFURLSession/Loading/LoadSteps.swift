/// The order of the steps. Read this to know what happens to a request, and to a response.
///
/// **A request about to leave** passes, from left to right:
///
/// ```
/// date ▸ (begin) ▸ interceptors ▸ protocol classes ▸ local schemes ▸ TLS ▸ cookies ▸ cache ▸ (route) ▸ (the wire)
/// ```
///
/// TLS is the step that turns `http` into `https`, or ends the request, if it may not leave in the clear. Whatever has
/// changed since is asked again when the first byte is about to leave: see `Departure`.
///
/// When the body is ready, cookies and then credentials add their fields; before that if the cache wants to see them. A
/// step may wait; it may answer
/// in place of the network (classes, local schemes, cache), and then the steps after it are not asked.
///
/// **An outcome** (a response, or a failure) passes:
///
/// ```
/// (cache, TLS and cookies learn) ▸ credentials ▸ cache ▸ redirects ▸ body coding ▸ TLS ▸ connectivity ▸ interceptors ▸
/// (decode) ▸ (the task) ▸ (store)
/// ```
///
/// They learn from what the network answers only. The first step that wants the outcome decides, and the later
/// ones do not see it. A step that sends another request says where that enters the first list, that step included:
///
/// | step | why | enters at |
/// |---|---|---|
/// | credentials | 401, 407, or the tunnel's 407 | TLS |
/// | cache | a 304 came, but the stored response cannot be used | TLS |
/// | redirects | 3xx | protocol classes |
/// | body coding | 415: the server does not take the coding of the request's body | TLS |
/// | TLS | the host came to ask for TLS before the request left | TLS |
/// | connectivity | there was no network | TLS |
/// | interceptors | another attempt | interceptors, and TLS after them if the former body goes again |
///
/// An example: a 401 arrives. Cache, TLS and cookies learn from it. Credentials finds a credential or asks the delegate, and
/// sends the request again, from TLS on. The cache has a 302 for it by now, and answers. The load judges that as
/// a response of the network, but nothing learns from it: credentials and cache pass, redirects asks the delegate, and
/// sends the request for the target, from the protocol classes on.
///
/// What is in parentheses is no step, since no request or outcome goes another way for it:
///
/// | what | where | why there |
/// |---|---|---|
/// | begin | `RequestPreparer.begin` | the time of the task begins, and a download looks for its part: once for each task |
/// | route | `RequestSender`, `SessionCore.connectionKey` | the proxy of the request that leaves, as the steps have made it; a proxy that may not be used ends the task |
/// | body coding | `BodyPreparer`, `RequestSender` | of a body that is about to be opened, on a worker |
/// | the ban on clear text | in TLS; in `Departure` once more | what has changed since TLS was asked holds at the first byte |
/// | decode | `Load.codedBody` | of the response that is the task's only: no step sees a body |
/// | store | `ResponseKeeper` | when the body is complete and the task's delegate admits it |
///
/// Protocol classes, cookies and connectivity are not in the lists of a session that has no use for them.
extension LoadSteps {
    init(
        for settings: SessionSettings,
        proven: ProvenCredentials,
        refusals: BodyCodingRefusals,
        asksRegisteredClasses: Bool,
        in world: World
    ) {
        let hasCookies = settings.cookies.setsCookies && settings.cookies.storage != nil
        let cookies = hasCookies ? CookieStep(sent: settings.cookies.sent) : nil
        let security = TransportSecurityStep(settings.transportSecurity)
        let credentials = CredentialStep(proven)
        let cache = CacheStep()
        let interceptors = InterceptorStep(settings.interception.kept.interceptors)
        let classes = ProtocolClasses(settings: settings.protocols, asksRegistered: asksRegisteredClasses, in: world)

        preparing = [EarliestDateStep(), interceptors]
        interceptorsPlace = 1
        classesPlace = preparing.count
        if let classes {
            preparing.append(ProtocolClassStep(classes))
            hasClassesToAsk = { !classes.all.isEmpty }
        }
        preparing.append(LocalSchemeStep())
        securityPlace = preparing.count
        preparing.append(security)
        if let cookies { preparing.append(cookies) }
        preparing.append(cache)

        learning = [cache]
        if settings.transportSecurity != nil { learning.append(security) }
        if let cookies {
            learning.append(cookies)
            addingFields.append(cookies)
        }
        addingFields.append(credentials)

        judging = [credentials, cache, RedirectStep(), BodyCodingStep(refusals)]
        if settings.transportSecurity != nil { judging.append(security) }
        if settings.waitsForConnectivity { judging.append(ConnectivityStep()) }
        judging.append(interceptors)
    }
}
