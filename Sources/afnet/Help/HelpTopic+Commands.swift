extension HelpTopic {
    static let pins = HelpTopic(
        .pins,
        usage: "pins [options] HOST[:PORT] | FILE",
        takes: .pins,
        summary: "what of a server, or of a file, can be pinned",
        text: """
            Shows the certificates of a server, or of a file, with their pins, whether they
            are trusted, and the Swift for a session that is pinned. The server gets no
            request.

                afnet pins example.com
                afnet pins --cacert root.pem intern.example.com:8443
                afnet pins ./certificate.pem

            A pin is the SHA-256 of a public key. --pin wants one in the server's chain:

                afnet --pin sha256//i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY= https://example.com/

            Pins for several hosts belong into a file: afnet help policy.

            """
    )

    static let verifyChain = HelpTopic(
        .verifyChain,
        usage: "verify-chain --trusted F --untrusted F --leaf F --host NAME --time S",
        summary: "whether a session would trust these certificates",
        text: """
            Judges certificates as a session would those of a server, with the roots of
            --trusted and no others. --untrusted has what the server sends behind its own,
            and may be empty. --ip ADDRESS stands in the place of --host. The time is in
            seconds since 1970.

                afnet verify-chain --trusted root.pem --untrusted middle.pem --leaf site.pem \\
                    --host example.com --time $(date +%s)

            0: the path and the name are good. 1: they are not; the reason is on standard
            output. 2: something is missing, or a file cannot be read.

            """
    )

    static let policy = HelpTopic(
        .policy,
        text: """
            A policy is a file in JSON that says which hosts must show which pins. --policy
            loads by it, and lint looks for mistakes in it:

                afnet lint policy.json
                afnet lint --host api.example.com policy.json
                afnet --policy policy.json https://api.example.com/

            {
              "SSLPinningMode": 0,
              "hostRules": [
                {
                  "hosts": "**.example.com",
                  "pins": {
                    "pins": ["sha256/i7WTqTvh0OioIruIfFR4kMPnBqrS2rdiVPl/s2uC/CY="],
                    "backupPins": ["sha256/hxqRlPTu1bMS/0DITB1SSu0vd4u/8l8TjPgfaAp63Gc="],
                    "expiry": {"date": "2037-06-01T00:00:00Z", "choice": "failClosed"},
                    "isReportOnly": false
                  }
                },
                {"hosts": "cdn.example.com", "noPins": true}
              ],
              "refusesHostsWithoutRule": true
            }

            hosts    one host; *.example.com is each one label below it; **.example.com
                     each below it, however deep. The most specific rule counts.
            pins     keys in use, and backupPins: keys that are kept elsewhere. Both are
                     accepted. "certificate/BASE64" is a certificate.
            expiry   a date, and what then: failOpen (not pinned) or failClosed (refused).
                     Without it a set is good for ever.
            isReportOnly             true: a server without a pin is told of, and accepted.
            refusesHostsWithoutRule  true: all other hosts are refused.

            Hosts that are pinned are not loaded over plain http. SSLPinningMode (0 none,
            1 keys, 2 certificates) has to be there. It is for hosts without a rule, as are
            pinnedCertificates (DER in base64), allowInvalidCertificates and
            validatesDomainName, which may be there. A name that means nothing is an error.

            A program reads the same file in the same way:

                let policy = try SecurityPolicy(json: Data(contentsOf: file))

            """
    )

    static let images = HelpTopic(
        .images,
        usage: "images [options] URL [URL ...]",
        takes: .images,
        summary: "load pictures, and show them in the terminal",
        text: """
            Loads pictures, four at a time, follows redirects, and shows them in the
            terminal, in the order of the URLs. PNG, JPEG, WebP and GIF.

                afnet images https://example.com/a.png https://example.com/b.jpg
                afnet images --graphics blocks --width 60 https://example.com/a.png
                afnet images --digest -u ann:secret -b jar.txt https://example.com/private.png

            The exit code is that of the last picture that failed.

            """
    )

    static let lint = HelpTopic(
        .lint,
        usage: "lint [--host NAME] [--cacert PATH] [POLICY]",
        takes: .lint,
        summary: "look for mistakes in a file with pins, or in authorities",
        text: """
            Looks for mistakes in a policy, the gravest first: whose rule it is, what is
            wrong, and what to change. With --host it says which rule is for that host.

                afnet lint policy.json
                afnet lint --host api.example.com --host example.com policy.json
                afnet lint --cacert ca.pem

            With --cacert it says what is wrong with the form of authorities of your own.
            afnet takes them all the same, because you name them; other clients may not.

            The exit code is 0 if there is nothing to change (notes are no problem), 1 if
            there is, and 2 if the file cannot be read. afnet help policy has the format.

            """
    )

    static let reach = HelpTopic(
        .reach,
        usage: "reach [--once] [HOST]",
        takes: .reach,
        summary: "watch whether there is a way to a host",
        text: """
            Watches whether this machine has a way to a host, or to the internet, and says
            so with the time, at first and whenever it changes. Ctrl-C ends it. Nothing is
            sent to the host: a way is a route of the kernel, and no promise that the host
            answers.

                afnet reach
                afnet reach --once example.com

            With --once the exit code is 0 if there is a way, 7 if not.

            """
    )

    static let serve = HelpTopic(
        .serve,
        usage: "serve [--port N] [--host NAME] [--tls [--ca-out PATH]] DIR",
        takes: .serve,
        summary: "serve a folder to this machine",
        text: """
            Serves a folder to this machine, at 127.0.0.1: files, index.html, or a page
            with the names of a folder. GET and HEAD, one range of a file, If-None-Match.
            Links that lead out of the folder, and paths that do, are not found. A request
            for another host than localhost, an address of this machine or a --host is
            answered with 421: pages of other sites whose names lead here cannot read the
            folder. Ctrl-C ends it.

                afnet serve .
                afnet serve --port 8000 public
                afnet serve --tls --ca-out root.pem public

            With --tls the server has a certificate for localhost and 127.0.0.1 from an
            authority that is made for this run; its certificate is written to --ca-out, or
            to a file that is named on the first line. Files are read while they are sent,
            64 KiB at a time. Each request is a line on standard error: method, path,
            status, bytes of the body.

            It is for trying things out, and not for the internet: it remembers a few
            hundred bytes of each connection until it ends.

            """
    )

    static let events = HelpTopic(
        .events,
        usage: "events [options] URL",
        takes: .events,
        summary: "print the events that a server sends, as they arrive",
        text: """
            Prints the data of each event of a stream (text/event-stream), and a line end.

                afnet events https://example.com/news
                afnet events --as-json --last-event-id 42 https://example.com/news
                afnet events --json '{"prompt": "hello", "stream": true}' https://example.com/chat

            A stream that a GET has asked for connects again when it ends or breaks off,
            with the identifier of its last event, until the server answers 204. --once
            ends it with the first response; --retry N gives up after N attempts without an
            event. Other methods ask once. -v names each event and its identifier.

            --max-time limits the stream as a whole, however often it connects: the exit
            code is then 28. Ctrl-C ends it with 0. Both write the --cookie-jar.

            A status other than 200 is exit code 22, another content type is 1.

            """
    )

    static let webSocket = HelpTopic(
        .ws,
        usage: "ws [options] URL",
        takes: .ws,
        summary: "open a WebSocket: lines are messages, both ways",
        text: """
            Each line of standard input is a text message; each message that arrives is a
            line of standard output.

                afnet ws wss://example.com/chat
                afnet ws --subprotocol graphql-ws -H 'X-Key: 1' wss://example.com/graphql
                afnet ws --ping 30 -v wss://example.com/prices

            The end of standard input closes the WebSocket with code 1000. What the server
            still sends before it answers is printed. With --binary the bytes of standard
            input go out as they are read, up to 64 KiB to a message, and those that arrive
            are written without line ends. -v tells of the handshake and the close. Ctrl-C
            closes the WebSocket with code 1001, and the --cookie-jar is written.

            The exit code is 0 when the server closes with 1000, 1001 or without a code, 22
            when it opens no WebSocket, 56 when it closes with another code, and 18 when it
            goes away without closing.

            """
    )

    static let completion = HelpTopic(
        .completion,
        usage: "completion bash | zsh | fish",
        summary: "what makes a shell complete all this",
        text: """
            Prints what makes a shell complete afnet's options.

                afnet completion bash > ~/.local/share/bash-completion/completions/afnet
                afnet completion zsh > ~/.zfunc/_afnet
                afnet completion fish > ~/.config/fish/completions/afnet.fish

            "./dev install" puts them, and the manual page that "afnet help man" prints,
            where shells and man look for them.

            """
    )

    static let exitCodes = HelpTopic(
        .exitCodes,
        addition: HelpText.exitCodes,
        text: """
            The code is that of the last URL; with --parallel, and of images, that of the
            one that failed last. A status such as 404 is no failure without --fail.


            """
    )
}
