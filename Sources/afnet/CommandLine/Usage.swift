/// What `--help` and `--version` say.
enum Usage {
    static let version = "0.1-dev"

    static let text = """
        usage: afnet [get] [options] URL [URL ...]

        Loads http URLs one after the other, over connections they share.

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
          -s, --silent             neither progress nor errors
          -S, --show-error         errors in spite of --silent
          -v, --verbose            request, response head and times, on standard error
          -h, --help               this text
          -V, --version            the version

        The exit code is that of the last URL, and curl's:
           0 done                         22 status refused by --fail
           1 no such scheme, no HTTP/1    23 cannot write
           2 bad command line             26 cannot read the body to send
           3 malformed URL                28 timed out
           6 host not found               43 bad argument
           7 cannot connect               52 closed without a byte
           8 head not understood          55, 56 cannot send, cannot receive
          18 body is cut short            63 larger than --max-filesize

        """
}
