import AFURLSession

/// Options for credentials, cookies and TLS.
extension CommandOption {
    static let login: [CommandOption] = [
        CommandOption(
            "-u, --user U:P",
            help: "user and password; they may stand in the URL, too. For a user alone it asks on the terminal",
            for: .loading,
            hiding: .all
        ) { $0.login = Login($1.value, mayAsk: true) },
        .choice(
            "--auth SCHEME",
            help: "basic (told at once), digest, or any: the strongest that the server asks for",
            for: .loading
        ) { $0.loginScheme = $1 },
        .scheme("--basic", picking: .basic, in: \.loginScheme),
        .scheme("--digest", picking: .digest, in: \.loginScheme),
        .scheme("--anyauth", picking: .any, in: \.loginScheme),
        CommandOption("--bearer, --oauth2-bearer TOKEN", help: "a token", for: .loading, hiding: .all) {
            $0.bearer = $1.value
        },
        .toggle("-n, --netrc", help: "user and password from ~/.netrc, where -u and the URL have none", for: .loading) {
            $0.netrc = $1 ? $0.netrc ?? NetrcOption() : nil
        },
        .toggle("--netrc-optional", help: "the same, if there is such a file", for: .loading) {
            $0.netrc = $1 ? NetrcOption(path: $0.netrc?.path, isNeeded: false) : nil
        },
        CommandOption("--netrc-file PATH", help: "the same from another file", for: .loading) {
            $0.netrc = NetrcOption(path: $1.value, isNeeded: $0.netrc?.isNeeded ?? true)
        },
    ]

    static let cookies: [CommandOption] = [
        CommandOption(
            "-b, --cookie \"a=b; c=d\"",
            help: "these cookies; where there is no \"=\", those of the file of this name",
            for: .loading,
            hiding: .all
        ) { $0.cookies.add($1.value) },
        .toggle("--cookies", help: "take cookies, and send them", for: .loading) { $0.cookies.isOn = $1 },
        CommandOption(
            "--cookie-file PATH",
            help: "cookies of this file (Netscape's format), and --cookies",
            for: .loading
        ) {
            ($0.cookies.isOn, $0.cookies.files) = (true, $0.cookies.files + [$1.value])
        },
        CommandOption("-c, --cookie-jar PATH", help: "write all cookies to it in the end, and --cookies", for: .loading)
        {
            ($0.cookies.isOn, $0.cookies.jar) = (true, $1.value)
        },
        .toggle(
            "-j, --junk-session-cookies",
            help: "without those of --cookie-file that end with a session",
            for: .loading
        ) {
            $0.cookies.skipsSessionCookies = $1
        },
    ]

    static let security: [CommandOption] = [
        CommandOption(
            "--cacert PATH",
            help: "trust only the authorities in this file, PEM or DER",
            for: [.transfer, .images, .pins, .lint, .events, .ws]
        ) { $0.security.authorities = $1.value },
        CommandOption(
            "--capath DIR",
            help: "trust only the authorities in the files of this folder that end in .pem, .crt, .cer or .der",
            for: [.transfer, .images, .events, .ws]
        ) { $0.security.authoritiesFolder = $1.value },
        CommandOption(
            "-E, --cert PATH",
            help:
                "show this certificate to servers that ask for one: PEM, or PKCS#12 if its name ends in .p12 or .pfx; "
                + "behind a colon, the passphrase of its key",
            for: .loading,
            hiding: .passphrase
        ) { $0.security.setCertificate($1.value) },
        .choice("--cert-type TYPE", help: "PEM, or P12 for PKCS#12; by the name unless given", for: .loading) {
            $0.security.certificateType = $1
        },
        CommandOption("--key PATH", help: "its key, PEM; without it, it is in the file of --cert", for: .loading) {
            $0.security.privateKey = $1.value
        },
        CommandOption("--cert-pass-file PATH", help: "its first line is the passphrase of the key", for: .loading) {
            $0.security.passphraseFile = $1.value
        },
        CommandOption("--pass TEXT", help: "the passphrase of the key", for: .loading, hiding: .all) {
            $0.security.passphrase = $1.value
        },
        CommandOption(
            "--pin, --pinnedpubkey SPEC",
            help:
                "want one of these public keys in the server's chain: sha256//BASE64[;sha256//BASE64...], or a file "
                + "with one key or certificate, PEM or DER; again: adds to it",
            for: .loading,
            completing: .files
        ) { $0.security.pins.append(try PinOption($1.value, of: $1.name)) },
        CommandOption(
            "--pinned-cert PATH",
            help: "want one of these certificates in it, PEM or DER; again: adds to it",
            for: .loading
        ) { $0.security.pinnedCertificates.append($1.value) },
        CommandOption(
            "--policy POLICY",
            help: "a file that says which hosts must show which pins: afnet help policy",
            for: .loading
        ) { $0.security.policy = $1.value },
        .toggle(
            "-k, --insecure",
            help: "accept any certificate, for any host, as long as it has what --pin and --pinned-cert want",
            for: .loading
        ) { $0.security.isInsecure = $1 },
        .flag("-1, --tlsv1, --tlsv1.0, --tlsv1.1, --tlsv1.2", help: "TLS 1.2 or newer, as without it", for: .loading) {
            $0.security.minimumVersion = .v1_2
        },
        .flag("--tlsv1.3", help: "TLS 1.3 or newer", for: .loading) { $0.security.minimumVersion = .v1_3 },
        .choice("--tls-max VERSION", help: "no newer TLS than 1.2, 1.3 or default", for: .loading) {
            $0.security.maximumVersion = ($1 as SecurityOptions.NewestVersion).version
        },
        .toggle("--no-sessionid", help: "begin each TLS session anew", for: .loading) {
            $0.security.resumesSessions = !$1
        },
        CommandOption("--ciphers LIST", help: "the cipher suites of TLS 1.2, as OpenSSL writes them", for: .loading) {
            $0.security.ciphers = $1.value
        },
    ]
}
