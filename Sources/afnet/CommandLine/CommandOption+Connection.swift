import AFURLSession

/// Options for connections, and for single commands.
extension CommandOption {
    static let connection: [CommandOption] = [
        CommandOption(
            "-m, --max-time S",
            help: "give up after so many seconds; without it, after 60 in which nothing happens",
            for: [.transfer, .images, .pins, .events, .ws]
        ) { $0.maximumTime = try Arguments.seconds($1.value, of: $1.name) },
        CommandOption("--connect-timeout S", help: "the same for connecting, and again for TLS", for: .loading) {
            $0.connectTime = try Arguments.seconds($1.value, of: $1.name)
        },
        CommandOption(
            "--limit-rate RATE",
            help: "bytes in a second, each way; k, M and G are 1024, 1024k and 1024M",
            for: .loading
        ) { $0.rate = try Arguments.rate($1.value, of: $1.name) },
        CommandOption(
            "-Y, --speed-limit N",
            help: "give up if fewer bytes in a second come and go, for so long as --speed-time says"
        ) {
            $0.speed.limit = try Arguments.size($1.value, of: $1.name)
        },
        CommandOption(
            "-y, --speed-time S",
            help: "for --speed-limit: how long, 30 seconds unless given; without it less than 1 byte"
        ) {
            $0.speed.time = try Arguments.seconds($1.value, of: $1.name)
        },
        CommandOption(
            "--expect100-timeout S",
            help: "how long a body waits for the answer to a field Expect, 1 unless given"
        ) {
            $0.continueTime = try Arguments.seconds($1.value, of: $1.name)
        },
        CommandOption(
            "--unix-socket PATH",
            help: "connect to this socket, whatever the URL's host",
            for: [.transfer, .images, .pins, .events, .ws]
        ) { $0.unixSocket = try Arguments.socketPath($1.value, of: $1.name) },
    ]

    static let places: [CommandOption] = [
        CommandOption(
            "--interface NAME",
            help: "connect from this interface, or from this address of this machine",
            for: .loading
        ) { $0.source = try Arguments.source($1.value, of: $1.name) },
        CommandOption(
            "--keepalive-time S",
            help: "ask whether a silent server is still there after so many seconds, and every so many",
            for: .loading
        ) { $0.probeTime = max(try Arguments.seconds($1.value, of: $1.name), 1) },
        .toggle("--no-keepalive", help: "do not ask that", for: .loading) { $0.probeTime = $1 ? 0 : nil },
        .flag("-4, --ipv4", help: "connect to addresses of IPv4 only", for: .loading) { $0.family = .v4 },
        .flag("-6, --ipv6", help: "connect to addresses of IPv6 only", for: .loading) { $0.family = .v6 },
        CommandOption(
            "--resolve HOST:PORT:ADDRESS",
            help:
                "HOST is at this address, without a lookup, or at one of several with commas between them; \"*\" is "
                + "any other host; again: adds to it, or replaces what it said of HOST",
            for: .loading
        ) { try $0.resolve($1.value, of: $1.name) },
        CommandOption(
            "--connect-to HOST:PORT:OTHERHOST:OTHERPORT",
            help: "connect there; field Host, certificate and cookies stay those of HOST. Empty ones match, and stay",
            for: .loading
        ) {
            $0.connectsTo.append(try HostOverride(connectTo: $1.value, of: $1.name))
        },
    ]

    static let proxies: [CommandOption] = [
        CommandOption(
            "-x, --proxy URL",
            help: "[SCHEME://][U:P@]HOST[:PORT], where SCHEME is http, https, socks5 or socks5h; \"\" for none",
            for: .loading,
            hiding: .login
        ) { $0.proxy.address = $1.value },
        CommandOption(
            "--socks5 HOST[:PORT]",
            help: "--proxy socks5://: names are looked up here",
            for: .loading,
            hiding: .login
        ) {
            $0.proxy.address = "socks5://\($1.value)"
        },
        CommandOption(
            "--socks5-hostname HOST[:PORT]",
            help: "--proxy socks5h://: the proxy looks names up",
            for: .loading,
            hiding: .login
        ) {
            $0.proxy.address = "socks5h://\($1.value)"
        },
        CommandOption("-U, --proxy-user U:P", help: "user and password for it, as -u", for: .loading, hiding: .all) {
            $0.proxy.login = Login($1.value, mayAsk: true)
        },
        .choice("--proxy-auth SCHEME", help: "as --auth", for: .loading) { $0.proxy.scheme = $1 },
        .scheme("--proxy-basic", picking: .basic, in: \.proxy.scheme, of: "--proxy-auth"),
        .scheme("--proxy-digest", picking: .digest, in: \.proxy.scheme, of: "--proxy-auth"),
        .scheme("--proxy-anyauth", picking: .any, in: \.proxy.scheme, of: "--proxy-auth"),
        .toggle("-p, --proxytunnel", help: "ask it for a tunnel for http, too", for: .loading) {
            $0.proxy.tunnels = $1
        },
        CommandOption(
            "--proxy-header \"N: v\"",
            help: "a field for those that ask for tunnels",
            for: .loading,
            hiding: .field
        ) {
            $0.proxy.fields.append(try HeaderOption($1.value))
        },
        CommandOption("--noproxy LIST", help: "hosts that are reached without it, \"*\" for all", for: .loading) {
            $0.proxy.bypassed = $1.value
        },
    ]

    static let order: [CommandOption] = [
        .toggle(
            "-Z, --parallel",
            help: "load the URLs of a group at the same time; what goes to standard output stays in order"
        ) { $0.isParallel = $1 },
        CommandOption("--parallel-max N", help: "how many at a time, 50 unless given") {
            $0.parallelMaximum = try Arguments.count($1.value, of: $1.name)
        },
        .toggle("--fail-early", help: "stop at the first URL that fails") { $0.failsEarly = $1 },
        CommandOption("--rate N/U", help: "begin at most so many URLs in a second (s), minute (m), hour (h) or day (d)")
        {
            $0.pace = try Arguments.pace($1.value, of: $1.name)
        },
    ]

    static let commands: [CommandOption] = [
        .choice(
            "--graphics MODE",
            help:
                "of images; auto: the best that the terminal says it has; blocks: two pixels to a character; sixel; "
                + "kitty; none: words only",
            for: .images
        ) { $0.graphics = $1 },
        CommandOption(
            "--width COLUMNS",
            help: "of images: how wide a picture may be; the terminal's width unless given",
            for: .images
        ) { $0.width = try Arguments.count($1.value, of: $1.name) },
        CommandOption(
            "--host NAME",
            help: "of lint: say which rule is for this host; of serve: answer for this host, too; again: adds to it",
            for: [.lint, .serve]
        ) { $0.hosts.append($1.value) },
        .toggle(
            "--once",
            help: "of reach: say how it is now, and end; of events: end with the first response",
            for: [.reach, .events]
        ) { $0.isOnce = $1 },
        CommandOption("--last-event-id ID", help: "of events: the last event that was seen", for: .events) {
            $0.lastEventID = $1.value
        },
        .toggle("--as-json", help: "of events: a line of JSON for each, with event, data and id", for: .events) {
            $0.printsJSON = $1
        },
        .toggle("--binary", help: "of ws: what is read and written is bytes, not lines of text", for: .ws) {
            $0.isBinary = $1
        },
        CommandOption(
            "--ping S",
            help: "of ws: ask a server that is silent for S seconds, and wait as long for its answer",
            for: .ws
        ) {
            let seconds = try Arguments.seconds($1.value, of: $1.name)
            $0.pingInterval = seconds > 0 ? seconds : nil
        },
        CommandOption(
            "--subprotocol NAME",
            help: "of ws: a subprotocol to offer; again: adds to it",
            for: .ws,
            hiding: .all
        ) {
            $0.subprotocols.append($1.value)
        },
        .toggle("--no-deflate", help: "of ws: offer no compression", for: .ws) { $0.offersDeflate = !$1 },
        CommandOption("--port N", help: "of serve: the port; one that is free unless given", for: .serve) {
            $0.port = try Arguments.port($1.value, of: $1.name)
        },
        .toggle("--tls", help: "of serve: https, with an authority that is made for this run", for: .serve) {
            $0.isSecured = $1
        },
        CommandOption(
            "--ca-out PATH",
            help: "of serve: with --tls, write the authority's certificate here, for --cacert",
            for: .serve
        ) { $0.authorityFile = $1.value },
    ]

    static let words: [CommandOption] = [
        .toggle("-s, --silent", help: "neither progress nor errors; serve does not tell of requests", for: .every) {
            $0.isSilent = $1
        },
        .toggle("-S, --show-error", help: "errors in spite of --silent", for: .every) { $0.showsErrors = $1 },
        .toggle("-#, --progress-bar", help: "a plain bar") { $0.progress = $1 ? .plain : .full },
        .toggle("--no-progress-meter", help: "no progress, but errors") { $0.progress = $1 ? .none : .full },
        .toggle(
            "-v, --verbose",
            help:
                "what goes on: requests, response heads, certificate and times, on standard error, with *** for what "
                + "is secret",
            for: .every
        ) { $0.isVerbose = $1 },
        .toggle("--show-secrets", help: "with --verbose: secrets as they are") { $0.showsSecrets = $1 },
        CommandOption(
            "--trace-ascii FILE",
            help:
                "write what is sent and received to this file, with *** for what is secret; \"-\" is standard output, "
                + "\"%\" standard error"
        ) { $0.dump = DumpOption(path: $1.value, hasBytes: false) },
        CommandOption("--trace FILE", help: "the same, with all bytes as numbers") {
            $0.dump = DumpOption(path: $1.value, hasBytes: true)
        },
        CommandOption(
            "--stderr FILE",
            help: "write messages, bars and -v to this file; \"-\" is standard output",
            for: .every
        ) {
            $0.errorFile = $1.value
        },
        .flag(
            "-h, --help",
            help: "the most common options; with a topic behind it, what afnet help has on it",
            for: .every
        ) {
            $0.action = .help
        },
        .flag("-M, --manual", help: "the manual page") { ($0.action, $0.topic) = (.help, HelpTopicName.man.rawValue) },
        .flag("-V, --version", help: "the version", for: .every) { $0.action = .version },
        CommandOption(
            "-K, --config FILE",
            help: "options from a file, one on a line; \"-\" is standard input: afnet help config"
        ) {
            $0.config = $1.value
        },
        .flag("-q, --disable", help: "as the first option: without the options of ~/.afnetrc") { _ in },
    ]

    /// Switches of curl that ask for what afnet does anyway.
    static let idle: [CommandOption] = [
        .toggle("-N, --no-buffer", help: "what arrives is written at once, as without it") { _, _ in },
        .flag("--tcp-nodelay", help: "as without it") { _ in },
        .toggle("--no-alpn", help: "as without it: HTTP/1.1 is not negotiated") { _, _ in },
        .toggle("--no-npn", help: "as without it") { _, _ in },
        .flag("--parallel-immediate", help: "as without it: a URL does not wait for the connection of another") { _ in
        },
        .toggle("--styled-output", help: "heads are written as they are, as without it") { _, _ in },
        .toggle("--suppress-connect-headers", help: "-i and -D leave out what a proxy says of a tunnel") {
            $0.hidesTunnel = $1
        },
    ]
}
