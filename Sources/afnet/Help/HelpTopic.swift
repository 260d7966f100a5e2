/// One page of the help.
struct HelpTopic: Sendable {
    let name: HelpTopicName
    /// The synopsis of a command.
    let usage: String?
    let command: CommandOption.Commands?
    /// What a command does, in a few words.
    let summary: String?
    let text: String
    /// Text that is made from the program's tables.
    let addition: String?

    init(
        _ name: HelpTopicName,
        usage: String? = nil,
        takes command: CommandOption.Commands? = nil,
        summary: String? = nil,
        addition: String? = nil,
        text: String
    ) {
        self.name = name
        self.usage = usage
        self.command = command
        self.summary = summary
        self.addition = addition
        self.text = text
    }

    static let all = HelpTopicName.allCases.compactMap(page)

    static let commands = all.filter { $0.usage != nil }

    /// The page of a topic. `all` and `man` have none: tables make them.
    static func page(_ name: HelpTopicName) -> HelpTopic? {
        switch name {
        case .all, .man: nil
        case .transfers: transfers
        case .urls: urls
        case .bodies: bodies
        case .login: login
        case .cookies: cookieFiles
        case .output: output
        case .writeOut: writeOut
        case .retries: retries
        case .parallel: parallel
        case .cache: cache
        case .proxies: proxies
        case .tls: tls
        case .pins: pins
        case .policy: policy
        case .report: report
        case .images: images
        case .lint: lint
        case .verifyChain: verifyChain
        case .reach: reach
        case .serve: serve
        case .events: events
        case .ws: webSocket
        case .completion: completion
        case .config: config
        case .curl: curl
        case .exitCodes: exitCodes
        }
    }

    static let transfers = HelpTopic(
        .transfers,
        text: """
            Each URL is loaded and its body written to standard output, or to its --output.
            URLs of one run share connections, cookies and the cache. A failure does not
            stop the URLs behind it, and the exit code is that of the last one.

                afnet https://example.com/ https://example.com/about
                afnet -o a.html https://example.com/ --next --head https://example.com/a
                afnet --unix-socket /run/docker.sock http://docker/version
                afnet -m 30 --connect-timeout 5 --limit-rate 500k -O https://example.com/file.iso

            --next begins a group with options and a login of its own. What --limit-rate
            allows, the URLs of a group have together. A request has default fields Accept
            and User-Agent; -H replaces them. A program that drives afnet should use the
            long names.

            """
    )

    static let bodies = HelpTopic(
        .bodies,
        text: """
            Fields of a form, as a browser sends them. Several are joined by "&":

                afnet -d name=Ann -d age=7 https://example.com/form
                afnet --data-urlencode 'text=one & two' https://example.com/form
                afnet -d @fields.txt https://example.com/form
                afnet -G -d q=swift -d page=2 https://example.com/search

            -d @FILE leaves out line ends, --data-binary @FILE sends all bytes. --data-raw
            sends its value as it is, also one that begins with "@".

            JSON, and a form with files. Files are read while they are sent:

                afnet --json '{"name": "Ann"}' https://example.com/users
                afnet --json @user.json https://example.com/users
                afnet -F title=Me -F 'photo=@me.jpg;type=image/jpeg' https://example.com/photos
                afnet -F 'text=<letter.txt' -F 'log=@-;filename=log.txt' https://example.com/mail

            Behind @ and < stands the name of a file, "-" for standard input, which is held
            in memory then. Quotes keep signs as they are: 'photo=@"a;b.jpg"'. Several
            files behind one @, with commas between them, are parts of the same name.

            Files for PUT, the k-th for the k-th URL. URLs without one are loaded.

                afnet -T report.pdf https://example.com/files/
                afnet -T - -H 'Content-Type: text/plain' https://example.com/files/note

            """
    )

    static let login = HelpTopic(
        .login,
        text: """
            A password is told at once with basic, the default. With digest and any it
            waits until the server asks, and any takes the strongest scheme on offer.

                afnet -u ann:secret https://example.com/private
                afnet --digest -u ann:secret https://example.com/private
                afnet --bearer TOKEN https://api.example.com/me
                afnet -n https://example.com/private

            What is given for one URL stays with its scheme, host and port over redirects,
            unless --location-trusted takes it along. All users of this machine can read a
            command line until afnet has read it. Then afnet blanks passwords and tokens of
            -u, -U, -b, -E, --pass, --bearer, URLs and fields such as Authorization. -u
            with a user alone asks for the password on the terminal, and ~/.netrc with -n
            has it in a file; both keep it off the command line.

            """
    )

    static let cookieFiles = HelpTopic(
        .cookies,
        usage: "cookies",
        summary: "what a jar makes of cookies, for programs",
        text: """
            Cookies are off, unless one of these options uses them.

                afnet -c jar.txt -d user=ann -d password=secret https://example.com/login
                afnet -b jar.txt https://example.com/private
                afnet -b 'theme=dark; lang=en' https://example.com/

            -b takes a file where there is no "=". A file that is not there has none. A
            program that can read a jar can log in as you. Cookies given here are sent
            behind those of the jar, and are not written to it.

            "afnet cookies" loads nothing. It reads lines of JSON from standard input, each
            of which is an empty jar and what happens to it, and answers each with a line:
            for each "get" the value of the field Cookie, which is empty if none would be
            sent.

                {"id":"1","steps":[{"op":"set","url":"http://a.example/","lines":["k=v"],"now":0},
                                   {"op":"get","url":"http://a.example/x","now":5}]}
                {"cookies":["k=v"],"id":"1"}

            """
    )

    static let report = HelpTopic(
        .report,
        text: """
            --report writes an object of JSON on a line for each URL, also if it fails.
            Names and meanings stay as they are: programs can rely on them. -w is for
            people.

                afnet --report report.json -o page.html -L https://example.com/

            url, effective_url       as given; after redirects
            exitcode, errormsg       0 and empty if all went well
            status, method, scheme, content_type, suggested_filename
            redirect_url             where a redirect that was not followed leads
            num_redirects, num_connects
            size_download, size_upload
            remote_ip, remote_port, local_port, http_connect
            time_namelookup, time_connect, time_appconnect, time_starttransfer, time_total
                                     in seconds; of the last exchange, since it began
            tls                      version, verify_error (also what --insecure let pass)
            from_cache               no, hit or revalidated
            responses                every head in the order received: kind (informational,
                                     connect, redirect, auth, final), http_version, status,
                                     reason, headers, trailers

            """
    )

    static let output = HelpTopic(
        .output,
        text: """
            The k-th -o or -O belongs to the k-th URL; what is left over goes to standard
            output.

                afnet -o index.html https://example.com/
                afnet -O -O https://example.com/a.txt https://example.com/b.txt
                afnet -OJ https://example.com/download?id=7
                afnet --create-dirs --output-dir files/new -O https://example.com/a.txt
                afnet -C - -O https://example.com/large.iso

            -O takes the name as it stands in the URL. -J takes what the server says,
            without folders, leading dots and characters that could do harm, and never
            replaces a file.

            What is not written to the terminal has a bar there, with the rate and the time
            that is left. -# is a plain bar. -s says nothing, -sS only errors.

                afnet -R -z page.html -o page.html https://example.com/
                afnet --etag-compare tag --etag-save tag -o page.html https://example.com/

            -z and --etag-compare load only what has changed. A file that is not there is
            loaded, if it is that of -z, or --etag-save is to write it.

            -v shows requests and responses. Passwords, tokens and cookies are *** there,
            in fields and in queries; --show-secrets shows them. --include, --dump-header
            and --write-out are for programs, and hide nothing.

            """
    )

    static let writeOut = HelpTopic(
        .writeOut,
        addition: variables,
        text: """
            -w writes its text behind the body of each URL, also of one that failed.

                afnet -s -o /dev/null -w '%{http_code} %{time_total}\\n' https://example.com/
                afnet -w '%{stderr}%header{etag}\\n' https://example.com/
                afnet -w '%{json}\\n' https://example.com/

            %{NAME} is one of the names below, %header{NAME} a field of the response,
            %{json} all of the names, %{header_json} all fields. %{stderr} and %{stdout}
            say where the rest goes, %{onerror} that the rest is for URLs that failed. \\n,
            \\r, \\t, \\\\ and %% are what they are everywhere. @FILE has the text, @-
            standard input; line ends of a file do not count.

            Times are in seconds since the URL was begun, sizes in bytes. What there was
            not is 0, or empty. A name that there is not is an error, before anything is
            sent.


            """
    )

    private static var variables: String {
        var lines = [""]
        for name in WriteOutFormat.Variable.allCases.map(\.rawValue) {
            if (lines.last ?? "").count + name.count + 2 > 77 { lines.append("") }
            lines[lines.count - 1] += (lines.last?.isEmpty == true ? "  " : ", ") + name
        }
        return lines.joined(separator: ",\n") + "\n"
    }

    static let retries = HelpTopic(
        .retries,
        text: """
            Redirects are answers, unless -L follows them.

                afnet -L --max-redirs 5 https://example.com/old
                afnet -L --keep-post 302 -d a=1 https://example.com/form

            --retry tries again what may heal by itself. It waits 1 second, then 2, 4, ...
            up to 10 minutes; or --retry-delay; or as long as the server asks
            (Retry-After). If it asks for more than --retry-max-time, or 10 minutes without
            that, there is no other try, and its answer is the last.

                afnet --retry 5 --retry-max-time 60 -f -O https://example.com/file
                afnet --retry 10 --retry-delay 1 --retry-connrefused http://localhost:8080/health

            Each try has --max-time for itself. A request is sent again whatever its method
            is: that is for you to know. Not tried again: what came from standard input,
            unless it is in memory, and what has partly gone to standard output.

            """
    )

    static let parallel = HelpTopic(
        .parallel,
        text: """
            -Z loads the URLs of a group at the same time, 50 unless --parallel-max says
            otherwise, over as many connections to a host.

                afnet -Z --remote-name-all https://example.com/1 https://example.com/2
                afnet -Z --parallel-max 4 --fail-early -f https://a.example/ https://b.example/

            Bodies for standard output, and what -w writes, stay whole and in the order of
            the URLs: what comes too early waits in a file without a name in $TMPDIR or
            /tmp, and while 100 wait nothing more is begun. The exit code is that of the
            URL that failed last, 0 if none did. Groups still run one after the other. One
            line shows how many URLs are done, and the bytes of all. -v has the number of
            the URL in front of its lines, the first being 0.

            """
    )

    static let cache = HelpTopic(
        .cache,
        text: """
            A private cache in a folder, shared by all runs that name it.

                afnet --cache ~/.cache/afnet https://example.com/
                afnet --cache ~/.cache/afnet --cache-mode only-if-cached https://example.com/

            default: as the server says. no-store: as if there were none. reload: ask, and
            store. no-cache: ask the server itself whether it is still good. force-cache:
            what there is, however old. only-if-cached: the same, and nothing is sent.

            It is for one user: of the fields of a request only credentials, cookies and
            others with the name of a secret tell its responses apart. These are not in the
            folder.

            """
    )

    static let proxies = HelpTopic(
        .proxies,
        text: """
            Without --proxy those of the environment are used: http_proxy, https_proxy,
            all_proxy and no_proxy, for this machine, too. The other options change them,
            and --noproxy takes the place of no_proxy.

                afnet -x http://proxy.example.com:3128 https://example.com/
                afnet --socks5-hostname localhost:1080 https://example.com/
                afnet -x proxy.example.com:3128 -U ann:secret --proxy-digest https://example.com/
                afnet --noproxy '*' https://example.com/

            """
    )

    static let tls = HelpTopic(
        .tls,
        text: """
            A server is trusted if its certificate leads to an authority of this machine,
            or to one of --cacert, is valid now, and is for the host of the URL.

                afnet --cacert root.pem https://intern.example.com/
                afnet -E me.pem --key me-key.pem https://example.com/
                afnet --tlsv1.3 https://example.com/

            TLS 1.2 and 1.3 are spoken. Whether a certificate was revoked is not checked.
            Pins ask for more than an authority: afnet help pins, afnet help policy.

            """
    )
}
