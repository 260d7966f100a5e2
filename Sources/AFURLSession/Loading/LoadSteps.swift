/// The order of the steps. Read this to know what happens to a request, and to a response.
///
/// **A request about to leave** passes, from left to right:
///
/// ```
/// date ▸ consumer ▸ interceptors ▸ protocol classes ▸ local schemes ▸ HSTS ▸ cookies ▸ cache ▸ (the wire)
/// ```
///
/// Behind the cache, when the body is ready, cookies and then credentials add their fields. A step may wait; it may answer
/// in place of the network (classes, local schemes, cache), and then the steps after it are not asked.
///
/// **An outcome** (a response, or a failure) passes:
///
/// ```
/// (cache, HSTS and cookies learn) ▸ credentials ▸ cache ▸ redirects ▸ HSTS ▸ connectivity ▸ interceptors ▸ (the task)
/// ```
///
/// They learn from what the network answers only. The first step that wants the outcome decides, and the later
/// ones do not see it. A step that sends another request says where that enters the first list, that step included:
///
/// | step | why | enters at |
/// |---|---|---|
/// | credentials | 401, 407, or the tunnel's 407 | HSTS |
/// | cache | a 304 came, but the stored response cannot be used | HSTS |
/// | redirects | 3xx | protocol classes |
/// | HSTS | the host came to ask for TLS before the request left | HSTS |
/// | connectivity | there was no network | HSTS |
/// | interceptors | another attempt | interceptors, and HSTS after them if the former body goes again |
///
/// An example: a 401 arrives. Cache, HSTS and cookies learn from it. Credentials finds a credential or asks the delegate, and
/// sends the request again, from HSTS on. The cache has a 302 for it by now, and answers. The load judges that as
/// a response of the network, but nothing learns from it: credentials and cache pass, redirects asks the delegate, and
/// sends the request for the target, from the protocol classes on.
///
/// Protocol classes, HSTS, cookies and connectivity are not in the lists of a session that has no use for them.
extension LoadSteps {
    init(for settings: SessionSettings, asksRegisteredClasses: Bool, in world: World) {
        let cookies = settings.cookies.setsCookies && settings.cookies.storage != nil ? CookieStep() : nil
        let security = settings.transportSecurity.map(HSTSStep.init)
        let credentials = CredentialStep()
        let cache = CacheStep()
        let interceptors = InterceptorStep(settings.interception.kept.interceptors)
        let classes = ProtocolClasses(settings.protocols, asksRegistered: asksRegisteredClasses, in: world)

        preparing = [EarliestDateStep(), ConsumerStep()]
        interceptorsPlace = preparing.count
        preparing.append(interceptors)
        classesPlace = preparing.count
        if let classes {
            preparing.append(ProtocolClassStep(classes))
            hasClassesToAsk = { !classes.all.isEmpty }
        }
        preparing.append(LocalSchemeStep())
        securityPlace = preparing.count
        if let security { preparing.append(security) }
        if let cookies { preparing.append(cookies) }
        preparing.append(cache)

        learning = [cache]
        if let security { learning.append(security) }
        if let cookies {
            learning.append(cookies)
            dressing.append(cookies)
        }
        dressing.append(credentials)

        judging = [credentials, cache, RedirectStep()]
        if let security { judging.append(security) }
        if settings.limits.waitsForConnectivity { judging.append(ConnectivityStep()) }
        judging.append(interceptors)
    }
}
