/// Command lines as they stand in documents and scripts. `U:` is the URL of the server, `H:` its host and port, `PORT` its
/// port. Behind two blanks and a `#` stands why afnet does something else; no such difference is silent.
enum CommandLines {
    static let text = #"""
        U:/x
        -s U:/x
        H:/x
        localhost/x --connect-to ::127.0.0.1:PORT
        U:/a/../b/./c
        U:/a/b/..
        U:/a/%2e%2e/b
        --path-as-is U:/a/../b
        U:/ä?q=ä  # letters beyond ASCII are encoded in the query, too
        U:/a b
        -d a=b U:/x
        --data a=b U:/x
        --data @f U:/x
        -d @f U:/x
        -d @- U:/x
        --data-raw @f U:/x
        --data-ascii @f U:/x
        --data-binary @f U:/x
        --data-urlencode 'a=b c' U:/x
        --data-urlencode a@f U:/x
        -d a -d b U:/x
        -G -d a=b U:/x
        -G -d a=b --data-urlencode 'c=d e' U:/x?q
        -I U:/x
        --head U:/x
        -I -X GET U:/x
        --head -X GET U:/x
        -I -L U:/redir
        -X HEAD -I U:/x
        -X DELETE U:/x
        -X PATCH -d x U:/x
        -T f U:/p/
        --upload-file f U:/p/
        --upload-file f U:
        --upload-file f U:/p/q
        --upload-file f U:/p/?q=1
        -T - U:/p/
        -T f U:/p/ U:/q
        -T f -T w U:/p/ U:/q/
        -T f -X POST U:/x
        -b jar U:/x
        --cookie jar U:/x
        --cookie a=b U:/x
        -b missing U:/x
        -b '' -L U:/cookie U:/x
        -c out U:/cookie
        -b jar -c out U:/cookie  # the jar has its cookies in another order
        -b jar -j U:/x
        -w @w U:/x
        -w '%{http_code}\n' U:/x
        -w '%{http_code} %{num_redirects} %{size_download} %{url_effective} %{content_type} %{method} %{scheme}\n' -L U:/redir
        -s -o /dev/null -w '%{http_code}' U:/status/404
        -w '%{ssl_verify_result} %{num_certs} %{http_connect} %{proxy_ssl_verify_result}\n' U:/x
        -w '%{urlnum} %{filename_effective}\n' -o '#1.t' U:/{a,b}
        -w '%header{server}\n' U:/x
        -o out U:/x
        -O U:/name.txt
        -OJ U:/cd
        -o a -o b U:/x U:/y
        -o a U:/x U:/y
        -O --output-dir d --create-dirs U:/name.txt
        --remote-name-all U:/a.txt U:/b.txt
        -f U:/status/404
        -f U:/x
        --fail-with-body U:/status/500
        -f U:/status/404 U:/x
        --fail-early -f U:/status/404 U:/x
        -L U:/redir
        U:/redir
        -L --max-redirs 0 U:/redir
        -L --max-redirs -1 U:/redir
        -L -d a=b U:/redir
        -L --post302 -d a=b U:/redir
        -L --post303 -d a=b U:/303
        -L -X POST -d a=b U:/redir  # an empty body of POST is announced
        -i U:/x
        -i -L U:/redir
        -D heads U:/x
        -D heads U:/x U:/y
        -D - U:/x
        -u a:b U:/auth
        http://a:b@127.0.0.1:PORT/auth
        -u a:b --basic U:/auth
        --oauth2-bearer T U:/x
        -H 'A: b' U:/x
        -H 'Accept:' U:/x
        -H 'E;' U:/x
        -H @h U:/x
        -H 'Host: other' U:/x
        -A me U:/x
        -A '' U:/x
        -e http://r/ U:/x
        -e ';auto' -L U:/redir
        --json '{"a":1}' U:/x
        --json @f U:/x
        -F a=b U:/x
        -F a=@f U:/x
        -F 'a=<f' U:/x
        -F 'a=@f;type=text/x;filename=n' U:/x
        -F 'a=b;headers="X: y"' U:/x
        -F 'a=@f;headers="X: y";headers="Z: q"' U:/x
        -F 'a=b;headers=@h' U:/x
        --form-string a=@f U:/x
        -F a=b -F c=d U:/x
        -r 0-3 U:/range
        -C 4 U:/range
        -C - -o part U:/range
        --compressed U:/gz
        --compressed U:/x
        U:/gz
        --compressed U:/none
        -z '1 Jan 2023' U:/lm
        -z '1 Jan 2021' U:/lm
        -z '-1 Jan 2021' U:/lm
        -z '-1 Jan 2023' U:/lm
        -z '12 Sep 2004 15:05:58 -0700' U:/x
        -z 20200101 U:/x
        -z missing -sS -o missing U:/lm
        -z nodate U:/x
        -R -o rt U:/lm
        -R -o rtx U:/lm --no-remote-time
        --etag-save out U:/etag
        --etag-compare e U:/x
        --etag-compare e --etag-save e U:/etag
        --etag-compare none --etag-save none U:/etag
        --etag-compare none U:/etag
        U:/{a,b}
        U:/[1-3]
        U:/[01-03]
        U:/[1-10:3]
        U:/[a-e:2]
        U:/{a,b}[1-2]
        -o '#1_#2' U:/{a,b}[1-2]
        -o 'x#3' U:/{a,b}
        U:/{a,}
        U:/{}
        U:/{a
        U:/[1-
        U:/[c-a]
        U:/a]
        -g U:/[1]  # brackets and braces are encoded
        -g U:/{a}  # brackets and braces are encoded
        U:/\{a\}
        -K cfg
        -K missing U:/x
        -q U:/x
        -N U:/x
        --no-buffer U:/x
        --http1.1 U:/x
        -0 U:/x
        --http1.0 U:/x
        --tcp-nodelay U:/x
        -4 U:/x
        -6 -sS U:/x
        -4 localhost:PORT/x
        --no-keepalive U:/x
        --keepalive-time 3 U:/x
        --no-location U:/redir
        -L --no-location U:/redir
        --no-silent -s U:/x
        --no-compressed U:/x
        --proto =https U:/x
        --proto =http U:/x
        --proto -all,http U:/x
        --proto =https,http U:/x
        --proto -http U:/x
        --proto-redir =https -L U:/redir
        --proto-redir =http -L U:/redir
        --proto-default https H:/x
        --proto-default http H:/x
        --url U:/x
        --url-query a=b U:/x
        --url-query 'a=b c' U:/x?q
        --url-query +a=b U:/x
        --url-query @f U:/x
        --url-query n@f U:/x
        -G --url-query a=1 -d b=2 U:/x
        -d q --url-query a=1 U:/x
        --speed-limit 1 --speed-time 5 U:/x
        -Y 1 -y 5 U:/x
        --stderr err -sS http://127.0.0.1:1/  # the message is afnet's
        --stderr - -s U:/x
        --rate 100/s U:/x U:/y
        --rate x U:/x
        --interface lo U:/x
        --interface 127.0.0.1 U:/x
        --interface nope0 U:/x
        --ciphers DEFAULT U:/x
        --max-filesize 5 U:/x
        --max-filesize 1k U:/x
        --remove-on-error -o out --max-filesize 3 U:/x
        --no-clobber -o f U:/x
        --limit-rate 1M U:/x
        -m 5 U:/x
        --connect-timeout 5 U:/x
        --retry 1 --retry-delay 0 U:/status/503  # the body of an answer that is tried again is dropped
        -x H: http://other.test/x
        -x '' U:/x
        U:/x |env http_proxy=http://127.0.0.1:PORT
        http://localhost/x |env http_proxy=http://127.0.0.1:PORT
        http://localhost:PORT/x |env http_proxy=http://127.0.0.1:1 no_proxy=localhost
        U:/x |env http_proxy=http://127.0.0.1:1 no_proxy=127.0.0.1
        U:/x |env all_proxy=http://127.0.0.1:1
        --noproxy '*' U:/x |env http_proxy=http://127.0.0.1:1
        --resolve a.test:PORT:127.0.0.1 http://a.test:PORT/x
        --connect-to a.test:80:127.0.0.1:PORT http://a.test/x
        http://127.0.0.1:1/
        http://nosuch.invalid/
        foo://x/

        /x
        //x
        -X
        --bogus U:/x
        -m x U:/x
        U:/x --next -d a U:/y
        U:/x -: -I U:/y
        -Z U:/x U:/x
        -sS -Z -o a -o b U:/x U:/y
        -sSL U:/redir -o out
        -fsSL U:/x
        -fsSLO U:/x.txt
        -sk U:/x
        -1 U:/x
        --tlsv1.2 -sSf U:/x
        --proto '=https' --tlsv1.2 -sSf U:/x
        -# -o out U:/x
        --no-progress-meter -o out U:/x
        --styled-output -i U:/x
        -n U:/x  # a netrc file that is named must be there
        --netrc-optional U:/x
        --netrc-file missing U:/x  # a netrc file that is named must be there
        --disallow-username-in-url http://u:p@127.0.0.1:PORT/x
        http://bücher.localhost:PORT/ü --resolve xn--bcher-kva.localhost:PORT:127.0.0.1
        U:/x#frag
        U:?q
        H:
        U:/x/?a=b&c={d}
        -X GET -d a=b U:/x
        -L -X GET -d a=b U:/redir
        -d a=b -H 'Content-Type: x/y' U:/x
        -d '' U:/x
        -X POST U:/x  # an empty body of POST is announced
        -X PUT -d @f U:/x
        -XPOST -da=b U:/x
        -sXPOST U:/x  # an empty body of POST is announced
        -H 'Transfer-Encoding: chunked' -d abc U:/x
        -H 'Content-Type: application/json' --data '{"a":1}' -X POST U:/x
        -T f -H 'Content-Type: a/b' U:/x
        --data-binary @- U:/x
        --trace-ascii - U:/x  # the trace has no names of addresses
        --silen U:/x  # names are written out
        --retry-connrefused --retry 1 --retry-delay 0 -sS http://127.0.0.1:1/
        -K - U:/y
        --json '{}' -X PUT U:/x
        --data-urlencode 'q=ä ö' -G U:/x
        -H 'X: a' -H 'X: b' U:/x  # fields of one name are joined
        -H 'User-Agent:' U:/x
        -o /dev/null -s -w '%{http_code}\n' U:/x U:/status/500
        -sSfL -o out U:/redir
        -T w -H 'Content-Type:' U:/x
        --create-dirs -o a/b/c U:/x
        -o '#1/#2' --create-dirs U:/{a,b}/[1-2]
        --max-time 9 --connect-timeout 3 -sS U:/x
        -L -I U:/redir U:/x
        -X OPTIONS U:/x
        -sS -f -w '%{exitcode}' U:/status/410
        --fail-with-body -o out U:/status/404
        -L --location-trusted U:/redir
        -w '%{errormsg}' U:/x
        -F 'a=b;type=x/y' U:/x
        -F 'a=@f,w' U:/x  # several files are parts of one name, as browsers send them
        -F '=b' U:/x  # a part has a name
        -r -3 U:/range
        -C 0 U:/range
        --limit-rate 100k -o out U:/big
        -d @missing -sS U:/x  # a file that is named must be there
        -T missing U:/x
        -F a=@missing U:/x
        --cacert missing U:/x  # a file that is named must be there
        -E missing U:/x  # a file that is named must be there
        --resolve x U:/x
        --connect-to x U:/x  # a place that cannot be read is an error
        --max-redirs x U:/x
        -b 'a=b; c=d' -b e=f U:/x  # cookies have a blank between them
        -c - U:/cookie  # the first lines name the program
        -j -b jar -c out U:/x
        -u a: U:/auth
        -u a:b --digest U:/x
        --anyauth -u a:b U:/auth
        -x http://u:p@127.0.0.1:PORT http://other.test/x
        --noproxy localhost -x 127.0.0.1:1 http://localhost:PORT/x
        -x nosuch.invalid:80 U:/x
        --unix-socket missing U:/x
        -e '' U:/x
        -A a -A b U:/x
        -H 'A;' -H 'A: x' U:/x  # fields of one name are joined
        -XDELETE -d x U:/x
        --get U:/x
        -G U:/x
        -I -d a U:/x
        -T f -d a U:/x
        -F a=b -d c U:/x
        -Z U:/x U:/y -o a -o b
        -Z --parallel-max 2 --remote-name-all U:/a.txt U:/b.txt
        --fail-early -f U:/x U:/status/404 U:/y
        -f --no-fail U:/status/404
        -s --no-progress-meter U:/x
        --url U:/x --url U:/y
        -sO U:/a/b/c.txt?x=1
        -O U:/
        -OJ U:/x.txt
        -T '{f,w}' U:/p/
        -T '{f,w}' U:/{a,b}/
        --next U:/x --next U:/y
        -i -L --max-redirs 0 -o out U:/redir
        -J U:/cd
        -J -o x U:/cd
        --remote-name-all --no-remote-name U:/a.txt
        -o a -o b U:/x
        -r 4 U:/range
        U:/[]  # brackets and braces are encoded
        http:/127.0.0.1:PORT/x
        U:/x#a#b
        -i -u a:b --anyauth U:/auth
        -i -L --max-redirs 0 U:/redir
        -i -f U:/status/404
        -i -C 9999 -o out U:/range
        -D heads U:/x --next -D heads U:/y
        -z '1 Jan 2023' -o f U:/lm
        --etag-save no/e U:/etag
        -w '%{header_json}' U:/lm
        -x http://127.0.0.1:PORT/path http://other.test/x
        -x 127.0.0.1:1 U:/x |env no_proxy=127.0.0.1
        -b heads.txt U:/x  # a cookie without a Domain is sent to no host
        -F 'a=b;filename=c/d' U:/x
        --output-dir d -o x U:/x
        -s -S U:/x
        -sSw '\n' U:/x
        -w '\t%%{x}\r\n' U:/x
        -w '%{stderr}e%{stdout}o' U:/x
        -w '%{onerror}bad' U:/x
        -w '%header{nosuch}|%header{Server}' U:/x
        -w '%{size_upload}' -d abc U:/x
        -w '%{redirect_url}' U:/redir
        -w '%{num_connects}' U:/x U:/x
        -F 'a=  b' U:/x
        -F 'a="  b"' U:/x
        -T f -C 2 U:/x
        -T f -C 0 U:/x
        -T f -C 99 U:/x
        -T f -C - U:/x
        -T f -r 0-3 U:/x
        --resolve a.test:PORT:127.0.0.2,127.0.0.1 http://a.test:PORT/x
        --resolve +a.test:PORT:127.0.0.1 http://a.test:PORT/x
        --resolve a.test:PORT:127.0.0.1 --resolve '*:PORT:127.0.0.2' http://a.test:PORT/x
        --resolve '*:PORT:127.0.0.2' --resolve a.test:PORT:127.0.0.1 http://a.test:PORT/x
        http://u:p%40q@127.0.0.1:PORT/x
        http://127.0.0.1:PORT//a//b
        http://127.0.0.1:PORT/a;b=c
        -H 'Cookie: a=b' -b c=d U:/x
        -X get U:/x  # known methods are sent in capitals
        --proxy-user a:b -x H: http://o.test/x
        --resolve '*:PORT:127.0.0.1' http://o.test:PORT/x
        -w '%{filename_effective}' -O U:/x.txt
        -- U:/x
        -sS -i -o out U:/x
        """#
}
