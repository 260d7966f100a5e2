/// Options for the request.
extension CommandOption {
    static let request: [CommandOption] = [
        CommandOption("--url URL", "load this URL; the same as the URL alone") { $0.urls.append($1.value) },
        CommandOption(
            "-X, --request M",
            "the method; GET unless there is a body",
            completing: .words(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        ) { $0.method = $1.value },
        CommandOption(
            "-H, --header \"N: v\"",
            "a request field: \"N: v\" sets it, again adds to it, \"N:\" takes it out, \"N;\" sends it empty",
            for: .loading
        ) { $0.fields.append(try HeaderOption($1.value)) },
        CommandOption("-A, --user-agent TEXT", "the field User-Agent; empty takes it out", for: .loading) {
            $0.userAgent = $1.value.isEmpty ? nil : $1.value
            if $1.value.isEmpty { $0.fields.append(try HeaderOption("User-Agent:")) }
        },
        CommandOption(
            "-e, --referer URL",
            "the field Referer; \";auto\" behind it, or alone, names the URL before each redirect"
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
                + "every byte as it is"
        ) { try $0.addPiece($1.name == "-d" ? BodyPiece(data: $1.value, .text) : .text($1.value)) },
        CommandOption("--data-raw DATA", "the same, and no sign means a file") { try $0.addPiece(.text($1.value)) },
        CommandOption("--data-binary DATA", "the same, and \"@FILE\" is that file, byte for byte") {
            try $0.addPiece(BodyPiece(data: $1.value, .binary))
        },
        CommandOption(
            "--data-urlencode DATA",
            "the same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE, where NAME stays as it is"
        ) { try $0.addPiece(BodyPiece(urlEncoding: $1.value)) },
        CommandOption("--data-file PATH", "send this file with POST; \"-\" is standard input") {
            try $0.addBody(.file($1.value))
        },
        CommandOption(
            "--json DATA",
            "send this with POST as JSON, and ask for JSON; \"@FILE\" has it; again: added to it"
        ) { try $0.addBody(.json([BodyPiece(data: $1.value, .binary)])) },
        .flag("-G, --get", "put what --data and its like give into the query, and send GET") { $0.isQuery = true },
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
}
