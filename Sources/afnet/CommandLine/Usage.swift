/// What `--help` and `--version` say.
enum Usage {
    static let version = "0.1-dev"

    static let text = """
        usage: afnet [get] [options] URL [URL ...]
               afnet pins [--cacert PATH] HOST[:PORT] | FILE

        Loads http and https URLs one after the other, over connections they share.
        "pins" shows the certificates of a server, which gets no request, or of a file,
        with their pins and the Swift for a pinned session. It takes --max-time too.

          -X, --request M          the method; GET unless there is a body
          -H, --header "N: v"      a request field: "N: v" sets it (again: adds to it),
                                   "N:" takes it out, "N;" sends it empty
          -d, --data STRING        send this body with POST; again: joined by "&"
              --data-file PATH     send this file with POST, "-" for standard input
              --head               send HEAD
          -I                       --head and --include
          -o, --output PATH        where the body goes, once for each URL; "-" and
                                   default: standard output. The file is replaced when
                                   the response begins, and what arrived stays in it if
                                   the rest does not
          -i, --include            put the response head before the body
          -f, --fail               status 400 and above is a failure, its body is dropped
          -m, --max-time S         give up after so many seconds; without it, after 60
                                   in which nothing happens
              --max-filesize N     refuse bodies of more than N bytes
              --unix-socket PATH   connect to this socket, whatever the URL's host
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
          -s, --silent             neither progress nor errors
          -S, --show-error         errors in spite of --silent
          -v, --verbose            request, response head, certificate and times, on
                                   standard error
          -h, --help               this text
          -V, --version            the version

        The exit code is that of the last URL, and curl's:
           0 done                         35 TLS handshake failed
           1 no such scheme, no HTTP/1    43 bad argument
           2 bad command line             52 closed without a byte
           3 malformed URL                55, 56 cannot send, cannot receive
           6 host not found               58 our certificate: unusable, wanted, refused
           7 cannot connect               60 the server's certificate is not trusted
           8 head not understood          63 larger than --max-filesize
          18 body is cut short            77 no usable authorities
          22 status refused by --fail     90 no pin matches
          23 cannot write
          26 cannot read the body to send
          28 timed out

        """
}
