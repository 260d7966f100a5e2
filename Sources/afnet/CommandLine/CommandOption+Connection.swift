import AFURLSession

/// Options for connections, and for single commands.
extension CommandOption {
    static let connection: [CommandOption] = [
        CommandOption(
            "-m, --max-time S",
            "give up after so many seconds; without it, after 60 in which nothing happens",
            for: [.transfer, .images, .pins, .events, .ws]
        ) { $0.maximumTime = try Arguments.seconds($1.value, of: $1.name) },
        CommandOption("--connect-timeout S", "the same for connecting, and again for TLS", for: .loading) {
            $0.connectTime = try Arguments.seconds($1.value, of: $1.name)
        },
        CommandOption(
            "--limit-rate RATE",
            "bytes in a second, each way; k, M and G are 1024, 1024k and 1024M",
            for: .loading
        ) { $0.rate = try Arguments.rate($1.value, of: $1.name) },
        CommandOption(
            "--unix-socket PATH",
            "connect to this socket, whatever the URL's host",
            for: [.transfer, .images, .pins, .events, .ws]
        ) { $0.unixSocket = try Arguments.socketPath($1.value, of: $1.name) },
    ]

    static let places: [CommandOption] = [
        CommandOption(
            "--resolve HOST:PORT:ADDRESS",
            "HOST is at this address, without a lookup; \"*\" is any host; again: adds to it",
            for: .loading
        ) { $0.overrides.append(try HostOverride(resolve: $1.value, of: $1.name)) },
        CommandOption(
            "--connect-to HOST:PORT:OTHERHOST:OTHERPORT",
            "connect there; field Host, certificate and cookies stay those of HOST. Empty ones match, and stay",
            for: .loading
        ) {
            $0.overrides.append(try HostOverride(connectTo: $1.value, of: $1.name))
            $0.connectsElsewhere = true
        },
    ]

    static let proxies: [CommandOption] = [
        CommandOption(
            "-x, --proxy URL",
            "[SCHEME://][U:P@]HOST[:PORT], where SCHEME is http, https, socks5 or socks5h; \"\" for none",
            for: .loading,
            hiding: .login
        ) { $0.proxy.address = $1.value },
        CommandOption(
            "--socks5 HOST[:PORT]",
            "--proxy socks5://: names are looked up here",
            for: .loading,
            hiding: .login
        ) {
            $0.proxy.address = "socks5://\($1.value)"
        },
        CommandOption(
            "--socks5-hostname HOST[:PORT]",
            "--proxy socks5h://: the proxy looks names up",
            for: .loading,
            hiding: .login
        ) {
            $0.proxy.address = "socks5h://\($1.value)"
        },
        CommandOption("-U, --proxy-user U:P", "user and password for it, as -u", for: .loading, hiding: .all) {
            $0.proxy.login = Login($1.value, mayAsk: $1.name == "-U")
        },
        .choice("--proxy-auth SCHEME", "as --auth", for: .loading) { $0.proxy.scheme = $1 },
        .flag("--proxy-basic", "--proxy-auth basic", for: .loading) { $0.proxy.scheme = .basic },
        .flag("--proxy-digest", "--proxy-auth digest", for: .loading) { $0.proxy.scheme = .digest },
        .flag("--proxy-anyauth", "--proxy-auth any", for: .loading) { $0.proxy.scheme = .any },
        .flag("-p, --proxytunnel", "ask it for a tunnel for http, too", for: .loading) { $0.proxy.tunnels = true },
        CommandOption(
            "--proxy-header \"N: v\"",
            "a field for those that ask for tunnels",
            for: .loading,
            hiding: .field
        ) {
            $0.proxy.fields.append(try HeaderOption($1.value))
        },
        CommandOption("--noproxy LIST", "hosts that are reached without it, \"*\" for all", for: .loading) {
            $0.proxy.bypassed = $1.value
        },
    ]

    static let order: [CommandOption] = [
        .flag(
            "-Z, --parallel",
            "load the URLs of a group at the same time; what goes to standard output stays in order"
        ) { $0.isParallel = true },
        CommandOption("--parallel-max N", "how many at a time, 50 unless given") {
            $0.parallelMaximum = try Arguments.count($1.value, of: $1.name)
        },
        .flag("--fail-early", "stop at the first URL that fails") { $0.failsEarly = true },
    ]

    static let commands: [CommandOption] = [
        .choice(
            "--graphics MODE",
            "of images; auto: the best that the terminal says it has; blocks: two pixels to a character; sixel; kitty; "
                + "none: words only",
            for: .images
        ) { $0.graphics = $1 },
        CommandOption(
            "--width COLUMNS",
            "of images: how wide a picture may be; the terminal's width unless given",
            for: .images
        ) { $0.width = try Arguments.count($1.value, of: $1.name) },
        CommandOption(
            "--host NAME",
            "of lint: say which rule is for this host; of serve: answer for this host, too; again: adds to it",
            for: [.lint, .serve]
        ) { $0.hosts.append($1.value) },
        .flag(
            "--once",
            "of reach: say how it is now, and end; of events: end with the first response",
            for: [.reach, .events]
        ) { $0.isOnce = true },
        CommandOption("--last-event-id ID", "of events: the last event that was seen", for: .events) {
            $0.lastEventID = $1.value
        },
        .flag("--as-json", "of events: a line of JSON for each, with event, data and id", for: .events) {
            $0.printsJSON = true
        },
        .flag("--binary", "of ws: what is read and written is bytes, not lines of text", for: .ws) {
            $0.isBinary = true
        },
        CommandOption(
            "--ping S",
            "of ws: ask a server that is silent for S seconds, and wait as long for its answer",
            for: .ws
        ) {
            let seconds = try Arguments.seconds($1.value, of: $1.name)
            $0.pingInterval = seconds > 0 ? seconds : nil
        },
        CommandOption("--subprotocol NAME", "of ws: a subprotocol to offer; again: adds to it", for: .ws, hiding: .all)
        {
            $0.subprotocols.append($1.value)
        },
        .flag("--no-deflate", "of ws: offer no compression", for: .ws) { $0.offersDeflate = false },
        CommandOption("--port N", "of serve: the port; one that is free unless given", for: .serve) {
            $0.port = try Arguments.port($1.value, of: $1.name)
        },
        .flag("--tls", "of serve: https, with an authority that is made for this run", for: .serve) {
            $0.isSecured = true
        },
        CommandOption(
            "--ca-out PATH",
            "of serve: with --tls, write the authority's certificate here, for --cacert",
            for: .serve
        ) { $0.authorityFile = $1.value },
    ]

    static let words: [CommandOption] = [
        .flag("-s, --silent", "neither progress nor errors; serve does not tell of requests", for: .every) {
            $0.isSilent = true
        },
        .flag("-S, --show-error", "errors in spite of --silent", for: .every) { $0.showsErrors = true },
        .flag("-#, --progress-bar", "a plain bar, also while standard output is no terminal") { $0.progress = .plain },
        .flag("--no-progress-meter", "no progress, but errors") { $0.progress = .none },
        .flag(
            "-v, --verbose",
            "what goes on: requests, response heads, certificate and times, on standard error, with *** for what is secret",
            for: .every
        ) { $0.isVerbose = true },
        .flag("--show-secrets", "with --verbose: secrets as they are") { $0.showsSecrets = true },
        .flag("-h, --help", "the most common options; with a topic behind it, what afnet help has on it", for: .every) {
            $0.action = .help
        },
        .flag("-V, --version", "the version", for: .every) { $0.action = .version },
    ]
}
