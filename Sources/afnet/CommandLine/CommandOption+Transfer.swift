/// Options for the request.
extension CommandOption {
    static let request: [CommandOption] = [
        CommandOption("--url URL", "load this URL; the same as the URL alone", hiding: .login) {
            $0.urls.append($1.value)
        },
        CommandOption(
            "-X, --request M",
            "the method; GET unless there is a body",
            for: .asking,
            completing: .words(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        ) { $0.method = $1.value },
        CommandOption(
            "-H, --header \"N: v\"",
            "a request field: \"N: v\" sets it, again adds to it, \"N:\" takes it out, \"N;\" sends it empty",
            for: .loading,
            hiding: .field
        ) { $0.fields.append(try HeaderOption($1.value)) },
        CommandOption("-A, --user-agent TEXT", "the field User-Agent; empty takes it out", for: .loading) {
            $0.userAgent = $1.value.isEmpty ? nil : $1.value
            if $1.value.isEmpty { $0.fields.append(try HeaderOption("User-Agent:")) }
        },
        CommandOption(
            "-e, --referer URL",
            "the field Referer; \";auto\" behind it, or alone, names the URL before each redirect",
            hiding: .login
        ) { $0.setReferer($1.value) },
        .flag("-I, --head", "send HEAD; the letter shows the head as well, as --include does") { $0.isHead = true },
        CommandOption("-r, --range SPEC", "ask for these bytes, as 0-99, 100- or -5") { $0.range = $1.value },
        .flag("--http1.0", "say HTTP/1.0; the connection serves no other request") { $0.usesHTTP10 = true },
        .flag("--compressed", "ask for a coded body, and decode it") { $0.isCompressed = true },
    ]

    static let bodies: [CommandOption] = [
        CommandOption(
            "-d, --data DATA",
            "send this with POST; again: joined by \"&\". The letter reads \"@FILE\", without line ends; --data sends "
                + "every byte as it is",
            for: .asking
        ) { try $0.addPiece($1.name == "-d" ? BodyPiece(data: $1.value, .text) : .text($1.value)) },
        CommandOption("--data-raw DATA", "the same, and no sign means a file", for: .asking) {
            try $0.addPiece(.text($1.value))
        },
        CommandOption("--data-binary DATA", "the same, and \"@FILE\" is that file, byte for byte", for: .asking) {
            try $0.addPiece(BodyPiece(data: $1.value, .binary))
        },
        CommandOption(
            "--data-urlencode DATA",
            "the same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE, where NAME stays as it is",
            for: .asking
        ) { try $0.addPiece(BodyPiece(urlEncoding: $1.value)) },
        CommandOption("--data-file PATH", "send this file with POST; \"-\" is standard input") {
            try $0.addBody(.file($1.value))
        },
        CommandOption(
            "--json DATA",
            "send this with POST as JSON, and ask for JSON; \"@FILE\" has it; again: added to it",
            for: .asking
        ) { try $0.addBody(.json([BodyPiece(data: $1.value, .binary)])) },
        .flag("-G, --get", "put what --data and its like give into the query, and send GET", for: .asking) {
            $0.isQuery = true
        },
        CommandOption(
            "-F, --form \"N=v\"",
            "a field of a multipart form: N=VALUE, N=@FILE, N=<FILE for its content; behind it ;type=TYPE and "
                + ";filename=NAME"
        ) { try $0.addBody(.form(FormPart.parts($1.value, of: $1.name))) },
        CommandOption("--form-string \"N=v\"", "the same, and no sign means anything") {
            try $0.addBody(.form(FormPart.parts($1.value, of: $1.name, isLiteral: true)))
        },
        CommandOption(
            "--part JSON",
            "one part of a multipart form, for other programs: {\"name\": ..., \"value\" or \"file\": ...}, and "
                + "perhaps \"filename\" and \"type\""
        ) { try $0.addBody(.form([FormPart(json: $1.value, of: $1.name)])) },
        CommandOption(
            "-T, --upload-file PATH",
            "send this file with PUT; \"-\" is standard input, in chunks unless there is a field Content-Length. With "
                + "the letter, a URL that ends in \"/\" gets the file's name"
        ) {
            $0.namesUpload = $1.name == "-T"
            try $0.addBody(.upload($1.value))
        },
    ]

    // MARK: - Options for the response

    static let response: [CommandOption] = [
        CommandOption(
            "-o, --output PATH",
            "where the body goes, once for each URL; \"-\" and default: standard output. The file is replaced when the "
                + "response begins, and what arrived stays in it if the rest does not"
        ) { $0.targets.append(.path($1.value)) },
        .flag("-O, --remote-name", "the same, with the last name of the URL's path") { $0.targets.append(.remoteName) },
        .flag("--remote-name-all", "-O for all URLs that have neither -o nor -O") { $0.namesAll = true },
        .flag(
            "-J, --remote-header-name",
            "with -O: the name that the server gives (Content-Disposition), without folders; a file that exists is "
                + "left alone, and that is 23"
        ) { $0.takesServersName = true },
        CommandOption("--output-dir DIR", "the folder for -o and -O") { $0.outputFolder = $1.value },
        .flag("--create-dirs", "make the folders that -o, -O and --output-dir need") { $0.makesFolders = true },
        .flag("--resume", "go on behind what --output has already, if the server still has the same") {
            $0.resume = .size
        },
        CommandOption("-C, --resume-from, --continue-at N", "go on at byte N; \"-\" is --resume") {
            $0.resume = $1.value == "-" ? .size : .offset(try Arguments.size($1.value, of: $1.name))
        },
        .flag("-i, --include", "put the response heads before the body") { $0.includesHead = true },
        CommandOption("-D, --dump-header PATH", "add the response heads to a file") { $0.headFile = $1.value },
        CommandOption(
            "-w, --write-out FORMAT",
            "write this behind each URL's body: \"%{http_code}\\n\"; \"@FILE\" has it. afnet help write-out has the names"
        ) { $0.writeOut = $1.value },
        CommandOption(
            "--report PATH",
            "write a line of JSON about each URL, for other programs; afnet help report has the members"
        ) { $0.report = $1.value },
        .flag("-f, --fail", "status 400 and above is a failure; its body is dropped") { $0.failure = .dropsBody },
        .flag("--fail-with-body", "the same, and its body is kept") { $0.failure = .keepsBody },
        CommandOption("--max-filesize N", "refuse bodies of more than N bytes", for: [.transfer, .images]) {
            $0.maximumSize = try Arguments.size($1.value, of: $1.name)
        },
    ]

    static let cache: [CommandOption] = [
        CommandOption("--cache DIR", "keep responses in this folder, and answer from it", for: [.transfer, .images]) {
            $0.cache = $1.value
        },
        .choice(
            "--cache-mode MODE",
            "default, no-store, reload, no-cache, force-cache or only-if-cached",
            for: [.transfer, .images]
        ) { ($0.cacheMode, $0.hasCacheMode) = ($1, true) },
    ]

    static let repetition: [CommandOption] = [
        .flag(
            "-L, --location",
            "follow redirects; passwords, tokens and cookies given here stay with the scheme, host and port of the URL",
            for: [.transfer, .events, .ws]
        ) { $0.redirects.isFollowing = true },
        .flag("--location-trusted", "follow, and take them along", for: .loading) {
            ($0.redirects.isFollowing, $0.redirects.isTrusting) = (true, true)
        },
        CommandOption("--max-redirs N", "how many, 50 unless given", for: .loading) {
            $0.redirects.maximum = Int(clamping: try Arguments.size($1.value, of: $1.name))
        },
        CommandOption("--keep-post CODE", "keep POST over 301, 302 or 303; again: adds to it") {
            $0.redirects.keepsPost.insert(try Arguments.redirectStatus($1.value, of: $1.name))
        },
        CommandOption(
            "--retry N",
            "try again up to N times: after a timeout, a name that is not found, and the statuses 408, 429, 500, 502, 503, "
                + "504, 522 and 524; of events: the attempts in a row that may bring none",
            for: .asking
        ) { $0.retries.count = Int(clamping: try Arguments.size($1.value, of: $1.name)) },
        CommandOption(
            "--retry-delay S",
            "wait so long before each; without it 1 second, then twice as long each time, and as long as Retry-After says"
        ) { $0.retries.delay = try Arguments.seconds($1.value, of: $1.name) },
        CommandOption("--retry-max-time S", "begin no further try after so many seconds") {
            $0.retries.maximumTime = try Arguments.seconds($1.value, of: $1.name)
        },
        .flag("--retry-connrefused", "after a refused connection as well") { $0.retries.afterRefusal = true },
        .flag("--retry-all-errors", "after every failure, and with --fail every status of 400 and above") {
            $0.retries.afterEverything = true
        },
    ]
}
