/// Options for the request.
extension CommandOption {
    static let request: [CommandOption] = [
        CommandOption("--url URL", help: "load this URL; the same as the URL alone", hiding: .login) {
            $0.urls.append($1.value)
        },
        CommandOption(
            "-X, --request M",
            help: "the method; GET unless there is a body",
            for: .asking,
            completing: .words(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        ) { $0.method = $1.value },
        CommandOption(
            "-H, --header \"N: v\"",
            help:
                "a request field: \"N: v\" sets it, again adds to it, \"N:\" takes it out, \"N;\" sends it empty; "
                + "\"@FILE\" has one on each line",
            for: .loading,
            hiding: .field
        ) { $0.fields += try HeaderOption.options($1.value, of: $1.name) },
        CommandOption("-A, --user-agent TEXT", help: "the field User-Agent; empty takes it out", for: .loading) {
            $0.userAgent = $1.value.isEmpty ? nil : $1.value
            if $1.value.isEmpty { $0.fields.append(try HeaderOption("User-Agent:")) }
        },
        CommandOption(
            "-e, --referer URL",
            help: "the field Referer; \";auto\" behind it, or alone, names the URL before each redirect",
            hiding: .login
        ) { $0.setReferer($1.value) },
        .toggle("-I, --head", help: "send HEAD, and show the head; with another -X load the head alone") {
            $0.isHead = $1
        },
        CommandOption(
            "-r, --range SPEC",
            help: "ask for these bytes, as 0-99, 100- or -5; with --upload-file, say that the file is these bytes"
        ) { $0.range = $1.value.allSatisfy(\.isNumber) ? "\($1.value)-" : $1.value },
        .flag("-0, --http1.0", help: "say HTTP/1.0; the connection serves no other request") { $0.usesHTTP10 = true },
        .flag("--http1.1", help: "say HTTP/1.1, as without it") { $0.usesHTTP10 = false },
        .toggle("--compressed", help: "ask for a coded body, and decode it") { $0.isCompressed = $1 },
        CommandOption(
            "-z, --time-cond TIME",
            help:
                "load it only if it has changed since this date, or since the file of this name was; with \"-\" in "
                + "front: only if it has not"
        ) { $0.timeCondition = TimeCondition($1.value) },
        CommandOption("--etag-save FILE", help: "write the field ETag of the response to this file") {
            $0.etagFile = $1.value
        },
        CommandOption("--etag-compare FILE", help: "load it only if its ETag is another than the one in this file") {
            $0.formerEtag = $1.value
        },
    ]

    static let addresses: [CommandOption] = [
        .toggle("-g, --globoff", help: "{} and [] in URLs are no lists: afnet help urls") { $0.expandsURLs = !$1 },
        CommandOption(
            "--url-query DATA",
            help: "put this into the query, encoded as by --data-urlencode; as it is behind a \"+\""
        ) {
            $0.query.append(
                $1.value.hasPrefix("+") ? .text(String($1.value.dropFirst())) : BodyPiece(urlEncoding: $1.value)
            )
        },
        .toggle("--path-as-is", help: "leave . and .. in paths") { $0.keepsDots = $1 },
        CommandOption("--proto LIST", help: "allow these schemes only: =https is https alone, -http all but http") {
            $0.schemes.allowed = try SchemeRules.changed($0.schemes.allowed, by: $1.value, of: $1.name)
        },
        CommandOption("--proto-redir LIST", help: "the same for redirects, of those that --proto allows") {
            $0.schemes.redirected = try SchemeRules.changed($0.schemes.redirected, by: $1.value, of: $1.name)
        },
        .choice("--proto-default SCHEME", help: "http or https: the scheme of URLs that have none; http unless given") {
            $0.schemes.default = $1
        },
        .toggle("--disallow-username-in-url", help: "refuse URLs with a user in them") { $0.refusesUserInURL = $1 },
    ]

    static let bodies: [CommandOption] = [
        CommandOption(
            "-d, --data, --data-ascii DATA",
            help: "send this with POST; again: joined by \"&\". \"@FILE\" is what the file has, without line ends",
            for: .asking
        ) { try $0.addPiece(BodyPiece(data: $1.value, reading: .text)) },
        CommandOption("--data-raw DATA", help: "the same, and no sign means a file", for: .asking) {
            try $0.addPiece(.text($1.value))
        },
        CommandOption("--data-binary DATA", help: "the same, and \"@FILE\" is that file, byte for byte", for: .asking) {
            try $0.addPiece(BodyPiece(data: $1.value, reading: .binary))
        },
        CommandOption(
            "--data-urlencode DATA",
            help: "the same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE, where NAME stays as it is",
            for: .asking
        ) { try $0.addPiece(BodyPiece(urlEncoding: $1.value)) },
        CommandOption("--data-file PATH", help: "send this file with POST; \"-\" is standard input") {
            try $0.addBody(.file($1.value))
        },
        CommandOption(
            "--json DATA",
            help: "send this with POST as JSON, and ask for JSON; \"@FILE\" has it; again: added to it",
            for: .asking
        ) { try $0.addBody(.json([BodyPiece(data: $1.value, reading: .binary)])) },
        .toggle("-G, --get", help: "put what --data and its like give into the query, and send GET", for: .asking) {
            $0.isQuery = $1
        },
        CommandOption(
            "-F, --form \"N=v\"",
            help: "a field of a multipart form: N=VALUE, N=@FILE, N=<FILE for its content; behind it ;type=TYPE, "
                + ";filename=NAME and ;headers=\"N: v\""
        ) { try $0.addBody(.form(FormPart.parts($1.value, of: $1.name))) },
        CommandOption("--form-string \"N=v\"", help: "the same, and no sign means anything") {
            try $0.addBody(.form(FormPart.parts($1.value, of: $1.name, isLiteral: true)))
        },
        CommandOption(
            "--part JSON",
            help: "one part of a multipart form, for other programs: {\"name\": ..., \"value\" or \"file\": ...}, and "
                + "perhaps \"filename\" and \"type\""
        ) { try $0.addBody(.form([FormPart(json: $1.value, of: $1.name)])) },
        CommandOption(
            "-T, --upload-file PATH",
            help:
                "send this file with PUT, once for each URL, or those of a list; \"-\" is standard input, in chunks "
                + "unless there is a field Content-Length. A URL that ends in \"/\" gets the file's name"
        ) { try $0.addUpload($1.value) },
    ]

    // MARK: - Options for the response

    static let response: [CommandOption] = [
        CommandOption(
            "-o, --output PATH",
            help:
                "where the body goes, once for each URL; \"-\" and default: standard output. The file is replaced when "
                + "the response begins, and what arrived stays in it if the rest does not. #1 is the first list of the "
                + "URL"
        ) { $0.targets.append(.path($1.value)) },
        .toggle("-O, --remote-name", help: "the same, with the last name of the URL's path") {
            $0.targets.append($1 ? .remoteName : .path("-"))
        },
        .toggle("--remote-name-all", help: "-O for all URLs that have neither -o nor -O") { $0.namesAll = $1 },
        .toggle(
            "-J, --remote-header-name",
            help:
                "with -O: the name that the server gives (Content-Disposition), without folders; a file that exists is "
                + "left alone, and that is 23"
        ) { $0.takesServersName = $1 },
        CommandOption("--output-dir DIR", help: "the folder for -o and -O") { $0.outputFolder = $1.value },
        .toggle("--create-dirs", help: "make the folders that -o, -O and --output-dir need") { $0.makesFolders = $1 },
        .toggle("--no-clobber", help: "replace no file: take its name with .1 behind it, or .2 and so on") {
            $0.keepsFiles = $1
        },
        .toggle("--remove-on-error", help: "remove the file if the transfer fails") { $0.removesFailed = $1 },
        .toggle("-R, --remote-time", help: "give the file the time of the field Last-Modified") { $0.keepsTime = $1 },
        .flag("--resume", help: "go on behind what --output has already, if the server still has the same") {
            $0.resume = .size
        },
        CommandOption(
            "-C, --resume-from, --continue-at N",
            help:
                "go on at byte N; \"-\" is --resume. With --upload-file, send the file from there on, and "
                + "Content-Range; \"-\" is then all of it"
        ) {
            $0.resume = $1.value == "-" ? .size : .offset(try Arguments.size($1.value, of: $1.name))
        },
        CommandOption(
            "--parts N",
            help:
                "load the file of --output by up to N requests at a time, where the server gives parts of it; until it is "
                + "complete it is PATH.parts, and the same command goes on with that"
        ) { $0.parts = try Arguments.count($1.value, of: $1.name) },
        .toggle("-i, --include, --show-headers", help: "put the response heads before the body") {
            $0.includesHead = $1
        },
        CommandOption("-D, --dump-header PATH", help: "write the response heads to a file") { $0.headFile = $1.value },
        CommandOption(
            "-w, --write-out FORMAT",
            help:
                "write this behind each URL's body: \"%{http_code}\\n\"; \"@FILE\" has it, and its line ends do not "
                + "count. afnet help write-out has the names"
        ) { $0.writeOut = $1.value },
        CommandOption(
            "--report PATH",
            help: "write a line of JSON about each URL, for other programs; afnet help report has the members"
        ) { $0.report = $1.value },
        .toggle("-f, --fail", help: "status 400 and above is a failure; its body is dropped") {
            try $0.setFailure(.dropsBody, isOn: $1)
        },
        .toggle("--fail-with-body", help: "the same, and its body is kept") { try $0.setFailure(.keepsBody, isOn: $1) },
        CommandOption(
            "--max-filesize N",
            help: "refuse bodies of more than N bytes; k, M and G are 1024, 1024k and 1024M",
            for: [.transfer, .images]
        ) { $0.maximumSize = try Arguments.amount($1.value, of: $1.name) },
    ]

    static let cache: [CommandOption] = [
        CommandOption(
            "--cache DIR",
            help: "keep responses in this folder, and answer from it",
            for: [.transfer, .images]
        ) {
            $0.cache = $1.value
        },
        .choice(
            "--cache-mode MODE",
            help: "default, no-store, reload, no-cache, force-cache or only-if-cached",
            for: [.transfer, .images]
        ) { ($0.cacheMode, $0.hasCacheMode) = ($1, true) },
    ]

    static let repetition: [CommandOption] = [
        .toggle(
            "-L, --location",
            help:
                "follow redirects; passwords, tokens and cookies given here stay with the scheme, host and port of the "
                + "URL",
            for: [.transfer, .events, .ws]
        ) { $0.redirects.isFollowing = $1 },
        .toggle("--location-trusted", help: "follow, and take them along", for: .loading) {
            ($0.redirects.isFollowing, $0.redirects.isTrusting) = ($1, $1)
        },
        CommandOption("--max-redirs N", help: "how many, 50 unless given; -1 as many as there are", for: .loading) {
            $0.redirects.maximum = $1.value == "-1" ? .max : Int(clamping: try Arguments.size($1.value, of: $1.name))
        },
        CommandOption("--keep-post CODE", help: "keep POST over 301, 302 or 303; again: adds to it") {
            $0.redirects.keepsPost.insert(try Arguments.redirectStatus($1.value, of: $1.name))
        },
        .toggle("--post301", help: "--keep-post 301") { $0.redirects.keepPost(over: 301, isKept: $1) },
        .toggle("--post302", help: "--keep-post 302") { $0.redirects.keepPost(over: 302, isKept: $1) },
        .toggle("--post303", help: "--keep-post 303") { $0.redirects.keepPost(over: 303, isKept: $1) },
        CommandOption(
            "--retry N",
            help:
                "try again up to N times: after a timeout, a name that is not found, and the statuses 408, 429, 500, "
                + "502, 503, 504, 522 and 524; of events: the attempts in a row that may bring none",
            for: .asking
        ) { $0.retries.count = Int(clamping: try Arguments.size($1.value, of: $1.name)) },
        CommandOption(
            "--retry-delay S",
            help:
                "wait so long before each; without it 1 second, then twice as long each time, and as long as "
                + "Retry-After says"
        ) { $0.retries.delay = try Arguments.seconds($1.value, of: $1.name) },
        CommandOption("--retry-max-time S", help: "begin no further try after so many seconds") {
            $0.retries.maximumTime = try Arguments.seconds($1.value, of: $1.name)
        },
        .toggle("--retry-connrefused", help: "after a refused connection as well") { $0.retries.afterRefusal = $1 },
        .toggle("--retry-all-errors", help: "after every failure, and with --fail every status of 400 and above") {
            $0.retries.afterEverything = $1
        },
    ]
}
