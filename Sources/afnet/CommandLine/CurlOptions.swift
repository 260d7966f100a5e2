import Foundation

/// All options of curl: those that afnet has, with the same meaning, and those that it refuses, with the reason.
package enum CurlOptions {
    /// One line of the table.
    package struct Row: Sendable {
        /// As on the command line: `-d, --data`.
        package let spelling: String
        /// Why afnet refuses it; nil if it has it.
        package let refusal: String?
        /// What it does.
        package let text: String
    }

    /// The options that afnet has, as curl spells them.
    private static let had = """
        --anyauth --basic --cacert --capath -E,--cert --cert-type --ciphers --compressed -K,--config --connect-timeout --connect-to
        -C,--continue-at -b,--cookie -c,--cookie-jar --create-dirs -d,--data --data-ascii --data-binary --data-raw
        --data-urlencode --digest -q,--disable --disallow-username-in-url -D,--dump-header --etag-compare --etag-save
        --expect100-timeout -f,--fail --fail-early --fail-with-body -F,--form --form-string -G,--get -g,--globoff -I,--head
        -H,--header -h,--help -0,--http1.0 --http1.1 -i,--include -k,--insecure --interface -4,--ipv4 -6,--ipv6 --json
        -j,--junk-session-cookies --keepalive-time --key --limit-rate -L,--location --location-trusted -M,--manual
        --max-filesize --max-redirs -m,--max-time -n,--netrc --netrc-file --netrc-optional -:,--next --no-alpn -N,--no-buffer
        --no-clobber --no-keepalive --no-npn --no-progress-meter --no-sessionid --noproxy --oauth2-bearer -o,--output --output-dir -Z,--parallel
        --parallel-immediate --parallel-max --pass --path-as-is --pinnedpubkey --post301 --post302 --post303 -#,--progress-bar
        --proto --proto-default --proto-redir -x,--proxy --proxy-anyauth --proxy-basic --proxy-digest --proxy-header
        -U,--proxy-user -p,--proxytunnel -r,--range --rate -e,--referer -J,--remote-header-name -O,--remote-name
        --remote-name-all -R,--remote-time --remove-on-error -X,--request --resolve --retry --retry-all-errors
        --retry-connrefused --retry-delay --retry-max-time -S,--show-error --show-headers -s,--silent --socks5
        --socks5-hostname -Y,--speed-limit -y,--speed-time --stderr --styled-output --suppress-connect-headers --tcp-nodelay
        -z,--time-cond --tls-max -1,--tlsv1 --tlsv1.0 --tlsv1.1 --tlsv1.2 --tlsv1.3 --trace --trace-ascii --unix-socket -T,--upload-file --url
        --url-query -u,--user -A,--user-agent -v,--verbose -V,--version -w,--write-out
        """

    /// The options that afnet refuses, by the reason.
    private static let refused: [(reason: String, names: String)] = [
        (
            "it is for other protocols than http and https",
            """
            -a,--append --compressed-ssh --create-file-mode --crlf --disable-eprt --disable-epsv --ftp-account
            --ftp-alternative-to-user --ftp-create-dirs --ftp-method --ftp-pasv -P,--ftp-port --ftp-pret --ftp-skip-pasv-ip
            --ftp-ssl-ccc --ftp-ssl-ccc-mode --ftp-ssl-control --hostpubmd5 --hostpubsha256 --ipfs-gateway --krb -l,--list-only
            --login-options --mail-auth --mail-from --mail-rcpt --mail-rcpt-allowfails --pubkey -Q,--quote --sasl-authzid
            --sasl-ir --ssl --ssl-reqd -t,--telnet-option --tftp-blksize --tftp-no-options --upload-flags -B,--use-ascii
            """
        ),
        (
            "afnet speaks HTTP/1.1: leave it out",
            """
            --alt-svc --http2 --http2-prior-knowledge --http3 --http3-only --proxy-http2
            """
        ),
        (
            "afnet takes no response without a head",
            """
            --http0.9
            """
        ),
        (
            "afnet logs in with Basic, Digest and bearer tokens",
            """
            --aws-sigv4 --delegation --negotiate --ntlm --ntlm-wb --proxy-negotiate --proxy-ntlm --proxy-service-name
            --service-name --socks5-basic --socks5-gssapi --socks5-gssapi-nec --socks5-gssapi-service
            """
        ),
        (
            "TLS before 1.2 and its additions are not safe",
            """
            -2,--sslv2 -3,--sslv3 --ssl-allow-beast --proxy-ssl-allow-beast --proxy-tlsv1
            """
        ),
        (
            "afnet leaves it to OpenSSL",
            """
            --curves --ech --egd-file --engine --false-start --random-file --sigalgs --tls-earlydata --tls13-ciphers
            --proxy-tls13-ciphers --tlsauthtype --tlspassword --tlsuser --proxy-tlsauthtype --proxy-tlspassword
            --proxy-tlsuser
            """
        ),
        (
            "afnet does not check whether a certificate was revoked",
            """
            --cert-status --crlfile --proxy-crlfile --ssl-no-revoke --ssl-revoke-best-effort
            """
        ),
        (
            "use --cacert, or SSL_CERT_FILE and SSL_CERT_DIR in the environment",
            """
            --ca-native --dump-ca-embed --proxy-ca-native --proxy-capath
            """
        ),
        (
            "afnet shows the certificate of --cert and no other",
            """
            --ssl-auto-client-cert --proxy-ssl-auto-client-cert
            """
        ),
        (
            "an https proxy is trusted as servers are",
            """
            --proxy-cacert --proxy-cert --proxy-cert-type --proxy-ciphers --proxy-insecure --proxy-key --proxy-key-type
            --proxy-pass --proxy-pinnedpubkey
            """
        ),
        (
            "afnet reads keys as PEM, and those in PKCS#12",
            """
            --key-type
            """
        ),
        (
            "the system looks names up: --resolve names an address",
            """
            --dns-interface --dns-ipv4-addr --dns-ipv6-addr --dns-servers --doh-cert-status --doh-insecure --doh-url
            """
        ),
        (
            "proxies speak HTTP/1.1 or SOCKS 5, one of them on the way",
            """
            --haproxy-clientip --haproxy-protocol --preproxy --proxy1.0 --socks4 --socks4a
            """
        ),
        (
            "afnet leaves the sockets as they are",
            """
            --abstract-unix-socket --happy-eyeballs-timeout-ms --ip-tos --keepalive-cnt
            --local-port --mptcp --tcp-fastopen --vlan-priority
            """
        ),
        (
            "afnet judges every response as it is",
            """
            --hsts --ignore-content-length --raw --tr-encoding
            """
        ),
        (
            "the URL says what is asked for",
            """
            --request-target
            """
        ),
        (
            "--location follows redirects, and -X holds for them",
            """
            --follow
            """
        ),
        (
            "names in forms are encoded as browsers encode them",
            """
            --form-escape
            """
        ),
        (
            "the shell has variables",
            """
            --expand --variable
            """
        ),
        (
            "-v shows requests, responses and times, and --report writes them for programs",
            """
            --libcurl --trace-config --trace-ids --trace-time
            """
        ),
        (
            "curl has given it up",
            """
            --metalink
            """
        ),
        (
            "-o /dev/null does it",
            """
            --out-null
            """
        ),
        (
            "--no-clobber keeps files, and -z looks at their dates",
            """
            --skip-existing
            """
        ),
        (
            "afnet leaves no word in a file of where it is from",
            """
            --xattr
            """
        ),
        (
            "--parallel-max is for all hosts",
            """
            --parallel-max-host
            """
        ),
    ]

    /// All rows, by their names.
    package static let rows: [Row] = {
        let kept = spellings(had).map { spelling in
            let option = OptionTable.standard.options.first { $0.names.contains(name(spelling)) }
            return Row(spelling: spelling, refusal: nil, text: option?.text.firstClause ?? "begin a new group")
        }
        let others = refused.flatMap { reason, names in
            spellings(names).map { Row(spelling: $0, refusal: reason, text: "refused: \(reason)") }
        }
        return (kept + others).sorted { name($0.spelling) < name($1.spelling) }
    }()

    private static let reasons = Dictionary(
        rows.flatMap { row in
            row.refusal.map { reason in row.spelling.components(separatedBy: ", ").map { ($0, reason) } } ?? []
        },
        uniquingKeysWith: { first, _ in first }
    )

    /// Why afnet refuses an option of curl; nil if it is none of those.
    ///
    /// - Parameter name: With its dashes.
    static func refusal(of name: String) -> String? {
        if let reason = reasons[name] { return reason }
        let positive = name.hasPrefix("--no-") ? "--\(name.dropFirst(5))" : "--no-\(name.dropFirst(2))"
        return reasons[positive]
    }

    private static func spellings(_ words: String) -> [String] {
        words.split { $0 == " " || $0 == "\n" }.map { String($0).replacing(",", with: ", ") }
    }

    /// The long name of a spelling, without its dashes.
    private static func name(_ spelling: String) -> String {
        String(spelling.components(separatedBy: ", ").last?.dropFirst(2) ?? "")
    }

    /// The table as a page has it.
    package static var page: String {
        let rows = rows.map { "| `\($0.spelling)` | \($0.text.replacing("|", with: "\\|")) |" }
        return (["| option of curl | here |", "| --- | --- |"] + rows).joined(separator: "\n") + "\n"
    }
}
