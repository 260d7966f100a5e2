/// What `--help` and `--version` say.
enum Usage {
    static let version = "0.1-dev"

    static let text = """
        usage: afnet [get] [options] URL [URL ...] [--next [options] URL ...]
               afnet pins [--cacert PATH] HOST[:PORT] | FILE
               afnet images [options] URL [URL ...]

        Loads http and https URLs one after the other, over connections they share.
        --next begins a new group: its options are its own; connections, cookies and
        the cache go on. "pins" shows the certificates of a server, which gets no
        request, or of a file, with their pins and the Swift for a pinned session. It
        takes --max-time too. "images" loads pictures, four at a time, follows redirects,
        and shows them in the terminal. It takes the options about who we are, the way
        there and --cache, --header, --max-filesize, and its own.

        The request:
          -X, --request M          the method; GET unless there is a body
          -H, --header "N: v"      a request field: "N: v" sets it (again: adds to it),
                                   "N:" takes it out, "N;" sends it empty
          -d, --data STRING        send this body with POST; again: joined by "&"
              --data-file PATH     send this file with POST, "-" for standard input
          -T, --upload-file PATH   send this file with PUT; "-" is standard input, in
                                   chunks unless there is a field Content-Length
              --head               send HEAD
          -I                       --head and --include
          -r, --range SPEC         ask for these bytes, as 0-99, 100- or -5
              --compressed         ask for a coded body, and decode it

        Who we are:
          -u, --user U:P           user and password, as they may stand in the URL, too
              --auth SCHEME        basic (told at once), digest, or any: the strongest
                                   that the server asks for
              --bearer TOKEN       a token
          -n, --netrc              passwords from ~/.netrc for hosts that ask
              --netrc-file PATH    the same from another file
          -b, --cookie "a=b; c=d"  these cookies
              --cookies            take cookies, and send them
              --cookie-file PATH   cookies of this file (Netscape's format), and --cookies
          -c, --cookie-jar PATH    write all cookies to it in the end, and --cookies
          -j, --junk-session-cookies
                                   without those of --cookie-file that end with a session

        The response:
          -o, --output PATH        where the body goes, once for each URL; "-" and
                                   default: standard output. The file is replaced when
                                   the response begins, and what arrived stays in it if
                                   the rest does not
              --resume             go on behind what --output has already
          -C, --resume-from N      go on at byte N; "-" is --resume
          -i, --include            put the response heads before the body
          -D, --dump-header PATH   add the response heads to a file
          -f, --fail               status 400 and above is a failure, its body is dropped
              --fail-with-body     the same, and its body is kept
              --max-filesize N     refuse bodies of more than N bytes
          -L, --location           follow redirects; passwords, tokens and cookies given
                                   here stay with the scheme, host and port of the URL
              --location-trusted   follow, and take them along
              --max-redirs N       how many, 50 unless given
              --keep-post CODE     keep POST over 301, 302 or 303; again: adds to it
              --cache DIR          keep responses in this folder, and answer from it
              --cache-mode MODE    default, no-store, reload, no-cache, force-cache or
                                   only-if-cached

        The way there:
          -m, --max-time S         give up after so many seconds; without it, after 60
                                   in which nothing happens
              --connect-timeout S  the same for connecting, and again for TLS
              --unix-socket PATH   connect to this socket, whatever the URL's host
          -x, --proxy URL          [SCHEME://][U:P@]HOST[:PORT], where SCHEME is http,
                                   https, socks5 or socks5h; "" for none
          -U, --proxy-user U:P     who we are to it
              --proxy-auth SCHEME  as --auth
          -p, --proxytunnel        ask it for a tunnel for http, too
              --proxy-header "N: v"
                                   a field for those that ask for tunnels
              --noproxy LIST       hosts that are reached without it, "*" for all
              --cacert PATH        trust only the authorities in this file, PEM or DER
          -E, --cert PATH          show this certificate to servers that ask for one: PEM,
                                   or PKCS#12 if its name ends in .p12 or .pfx
              --key PATH           its key, PEM; without it, it is in the file of --cert
              --cert-pass-file PATH
                                   its first line is the passphrase of the key
              --pin SPEC           want one of these public keys in the server's chain:
                                   sha256//BASE64[;sha256//BASE64...], or a file with
                                   one key or certificate, PEM or DER; again: adds to it
              --pinned-cert PATH   want one of these certificates in it, PEM or DER;
                                   again: adds to it
          -k, --insecure           accept any certificate, for any host, as long as it
                                   has what --pin and --pinned-cert want

        Pictures:
              --graphics MODE      auto: the best that the terminal says it has; blocks: two
                                   pixels to a character; sixel; kitty; none: words only
              --width COLUMNS      how wide a picture may be; the terminal's width unless given

        And:
          -s, --silent             neither progress nor errors
          -S, --show-error         errors in spite of --silent
          -v, --verbose            requests, response heads, certificate and times, on
                                   standard error
          -h, --help               this text
          -V, --version            the version

        The exit code is that of the last URL, and curl's:
           0 done                         33 the download does not go on there
           1 no such scheme, no HTTP/1    35 TLS handshake failed
           2 bad command line             43 bad argument
           3 malformed URL                47 too many redirects
           5 proxy not found              52 closed without a byte
           6 host not found               55, 56 cannot send, cannot receive
           7 cannot connect               58 our certificate: unusable, wanted, refused
           8 head not understood          60 the server's certificate is not trusted
          18 body is cut short            61 the body's coding cannot be undone
          22 status refused by --fail     63 larger than --max-filesize
          23 cannot write                 65 the body cannot be sent again
          26 cannot read what to send     77 no usable authorities
          28 timed out                    90 no pin matches
                                          91 not a picture that can be shown

        """
}
