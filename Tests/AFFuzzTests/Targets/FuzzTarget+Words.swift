extension FuzzTarget {
    /// Words of the grammar, which the fuzzer puts together with its own changes. Where a parser compares byte by byte,
    /// chance finds words of a few letters only.
    var words: [String] { Self.allWords[name] ?? [] }

    private static let allWords: [String: [String]] = [
        "response": fieldLines + framing, "connect-response": fieldLines + framing + challengeWords,
        "request": fieldLines + framing + methods, "connect": fieldLines + framing, "chunks": framing,
        "trailers": fieldLines,
        "conversation": fieldLines + framing + challengeWords + cacheWords + cookieWords + statuses,
        "proxied-conversation": fieldLines + framing + challengeWords + cacheWords + statuses,
        "status-line": ["HTTP/1.1 ", "HTTP/1.0 ", "HTTP/2 ", "\t", "\u{1E}"],
        "request-head": methods + [
            "\u{1E}", "\r\n", "Host", "Expect", "100-continue", "Connection", "close", "Range", "http://",
        ],
        "form": ["\u{1E}", "\r\n", "--Boundary+", "\"", "%22", "; filename=", "/", "\\"],
        "cache-control": cacheWords, "challenge": challengeWords, "set-cookie": cookieWords,
        "cookie-record": cookieWords,
        "content-disposition": [
            "attachment", "inline", "; filename=", "; filename*=", "UTF-8''", "%2F", "\\\"", "..", "name",
        ],
        "content-range": ["bytes", " ", "-", "/", "*", "9223372036854775807", "18446744073709551615"],
        "media-type": ["text/", "; charset=", "\"", "\\\""],
        "transport-security": ["max-age", "includeSubDomains", "preload", "=\"", ";"],
        "retry-after": dateWords, "http-date": dateWords, "cookie-date": dateWords + ["jan", ":59", "-99"],
        "url": urlWords, "location": urlWords, "proxy-url": urlWords + ["socks5", "socks5h", "socks"],
        "proxy-exceptions": ["*", "*.", ".a.test", "/8", "/128", "::1", "10.", ",", " ", ":80"],
        "data-url": ["data:", ";base64", ";charset=", ",", "%2C", "=="],
        "suffix-list": ["\n", "*.", "!", "//", ".", "com", "www.ck"],
        "peer-name": ["xn--", ".", "[", "]", "::", "%25"],
        "ip-address": ["::", ":", ".", "ffff", "255", "::ffff:"],
        "netrc": ["machine ", "default", "login ", "password ", "account ", "macdef ", "\n\n", "#", "\"", "\\"],
        "json": ["null", "true", "false", "[", "{", "\":", "\\u", "\\ud83d", "e-", "\u{FEFF}", "1e999"],
        "property-list": [
            "<plist>", "</plist>", "<dict>", "</dict>", "<array>", "<key>", "</key>", "<data>", "<date>", "<real>",
            "<true/>", "<string>", "</string>", "<!DOCTYPE", "bplist00", "CF$UID",
        ],
        "xml-parser": markup, "xml-document": markup,
        "mixed-replace": ["--a", "--a--", "\r\n", "\r\n\r\n", "--a\r\n", "Content-Type: "],
        "lines": ["\r\n", "\r", "\n"],
        "pem": ["-----BEGIN ", "-----END ", "CERTIFICATE-----", "TRUSTED CERTIFICATE", "X509 CRL", "\n"],
        "identity": [
            "-----BEGIN ", "-----END ", "PRIVATE KEY-----", "ENCRYPTED ", "Proc-Type: 4,ENCRYPTED", "DEK-Info: ",
        ],
        "png": ["IHDR", "IDAT", "PLTE", "tRNS", "IEND", "acTL", "fcTL", "fdAT", "iCCP", "eXIf"],
        "webp": ["RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH", "ICCP", "EXIF"],
        "gif": ["GIF87a", "GIF89a", "NETSCAPE2.0", "!\u{0}", ",", ";"],
        "jpeg": ["JFIF", "Exif\u{0}\u{0}", "II*", "MM"],
    ]

    private static let fieldLines = [
        "\r\n", "\r\n\r\n", ": ", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "Connection: ", "close",
        "keep-alive", "Keep-Alive: timeout=5, max=2\r\n", "Content-Encoding: gzip\r\n", "Content-Type: ",
        "Host: a.test\r\n",
        "Upgrade: ", "Trailer: ", "Expect: 100-continue\r\n", "\r\n ", "\t",
    ]
    private static let framing = [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.0 ", "HTTP/1.1 100 \r\n\r\n", "\r\n0\r\n\r\n", "chunked", "identity",
        "gzip, chunked",
        "ffffffff", "7fffffffffffffff",
    ]
    private static let methods = ["GET ", "HEAD ", "POST ", "CONNECT ", "OPTIONS * ", " HTTP/1.1\r\n", " HTTP/1.0\r\n"]
    private static let statuses = [
        "\u{1E}k\u{0}HTTP/1.1 ", "\u{1E}c\u{0}HTTP/1.1 ", "301 \r\n", "303 \r\n", "307 \r\n", "308 \r\n", "304 \r\n",
        "401 \r\n",
        "407 \r\n", "408 \r\n", "417 \r\n", "421 \r\n", "206 \r\n", "101 \r\n", "Location: ", "http://a.test/",
        "http://b.test/",
        "//b.test", "Retry-After: 1\r\n", "Strict-Transport-Security: max-age=9\r\n", "Age: 1\r\n", "ETag: \"e\"\r\n",
        "Vary: *\r\n", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "Expires: 0\r\n", "WWW-Authenticate: ", "Proxy-Authenticate: ", "Set-Cookie: ",
        "Content-Range: bytes 0-1/2\r\n",
    ]
    private static let challengeWords = [
        "Basic ", "Bearer ", "Digest ", "realm=\"", "nonce=\"", "qop=\"auth\"", "auth-int", "algorithm=", "MD5-sess",
        "SHA-256", "SHA-512-256", "stale=true", "userhash=true", "charset=UTF-8", "domain=\"", "opaque=\"", "error=",
        ", ",
    ]
    private static let cacheWords = [
        "max-age=", "s-maxage=", "no-cache", "no-store", "private", "public", "must-revalidate", "immutable",
        "stale-while-revalidate=", "stale-if-error=", "min-fresh=", "max-stale", "only-if-cached", "no-transform",
        "=\"", ", ",
    ]
    private static let cookieWords = [
        "; Path=", "; Domain=", "; Max-Age=", "; Expires=", "; Secure", "; HttpOnly", "; SameSite=", "Strict", "Lax",
        "None",
        "__Host-", "__Secure-", "; Partitioned", "a.test", "Wed, 09 Jun 2027 10:18:14 GMT",
    ]
    private static let dateWords = [
        "Mon", "Tue", "Wednesday", "Thu", "Fri", "Sat", "Sunday", "Feb", "Jun", "Dec", "29 Feb 2000", " GMT", ", ",
        ":60", "9999",
    ]
    private static let urlWords = [
        "http://", "https://", "//", "/../", "/./", "%2e%2e", "@", "[::1]", "%25", ":443", "?", "#", "xn--", "0x7f.1",
        "\\", "ß",
        "\u{3002}", "..",
    ]
    private static let markup = [
        "<?xml version=\"1.0\" ", "encoding=\"", "UTF-16", "ISO-8859-1", "?>", "<?", "<!--", "-->", "<![CDATA[", "]]>",
        "<!DOCTYPE a [", "<!ENTITY b \"", "<!NOTATION ", " SYSTEM \"", "<!ELEMENT ", "<!ATTLIST ", "]>", "&lt;", "&#x",
        "</a>",
        "<a>", "xmlns=\"", "%b;",
    ]
}
