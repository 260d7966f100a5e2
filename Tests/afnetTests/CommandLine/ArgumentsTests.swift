import Testing
import afnet

@Suite struct ArgumentsTests {
    @Test(arguments: [["http://h/"], ["get", "http://h/"], ["--", "http://h/"]])
    func `the word get is not needed`(words: [String]) throws {
        #expect(try Arguments(words).urls == ["http://h/"])
    }

    @Test func `letters stand for long names and may be combined`() throws {
        let long = try Arguments([
            "--request", "PUT", "--header", "A: b", "--data", "x", "--output", "f", "--include", "--fail",
            "--max-time", "2.5", "--silent", "--show-error", "--verbose", "u",
        ])
        let short = try Arguments(["-sSvif", "-XPUT", "-H", "A: b", "-dx", "-of", "-m2.5", "u"])

        #expect(long == short)
        #expect(long.method == "PUT" && long.maximumTime == 2.5 && long.outputs == ["f"])
    }

    @Test(arguments: [
        ["--user=", "u"], ["-u", "[a:b]", "h"], ["-sSu[a:b]", "-o", "f@g", "h"], ["-U[é:ü]", "http://[me:x]@h/a@b"],
        ["--bearer", "[t]", "h"], ["--oauth2-bearer", "[t]", "h"], ["-H", "X-Api-Key:[ t]", "-H", "A: b", "h"],
        ["-H@f", "-H", "Authorization", "h"], ["--proxy-header", "X-Token:[ t:u]", "-x", "[a:b]@h:1", "h"],
        ["-x", "http://[a]@h", "--socks5", "[a@b]@h:1", "--", "[-u:x]@h", "http://h/?a=b@c"], ["-b", "[a=b]", "h"],
        ["--pass", "[x]", "-E", "f:[y]", "-E", "f", "h"],
        ["-e", "http://[a:b]@h/;auto", "--url", "http://[a:b]@h/", "-d", "a@b"], ["-sS", "-u"], ["-u", "[]", "h"],
        ["-u", "[a]", "h", "--next", "-u", "[b]", "--no-such-option", "-u", "c"], ["ws", "--subprotocol", "[t]", "h"],
    ])
    func `secrets are found among the words, wherever they stand`(marked: [String]) {
        let words = marked.map { $0.filter { !"[]".contains($0) } }
        var rest = WordQueue(words)

        _ = try? Arguments.groups(&rest)

        var shown = words.map { Array($0.utf8) }
        for secret in rest.secrets {
            shown[secret.word].insert(UInt8(ascii: "]"), at: secret.bytes.upperBound)
            shown[secret.word].insert(UInt8(ascii: "["), at: secret.bytes.lowerBound)
        }
        #expect(shown.map { String(decoding: $0, as: UTF8.self) } == marked)
    }

    @Test func `--next begins a new group`() throws {
        let groups = try Arguments.groups(["-s", "-X", "PUT", "a", "b", "--next", "-o", "--next", "c", "-:", "d"])

        #expect(groups.map(\.urls) == [["a", "b"], ["c"], ["d"]])
        #expect(groups.map(\.isSilent) == [true, false, false] && groups.map(\.method) == ["PUT", nil, nil])
        // The word after an option is its value, even if it looks like an option.
        #expect(groups[1].outputs == ["--next"])
        for words in [["u", "--next"], ["pins", "h", "--next", "u"]] {
            #expect { try Arguments.groups(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
        }
    }

    @Test func `curl's letters and names are known`() throws {
        let long = try Arguments([
            "--location", "--user", "a:b:c", "--cookie", "k=v", "--cookie-jar", "j", "--junk-session-cookies",
            "--proxy",
            "h", "--proxy-user", "x:y", "--proxytunnel", "--dump-header", "d", "--netrc", "--resume-from", "7", "u",
        ])
        let short = try Arguments([
            "-L", "-ua:b:c", "-bk=v", "-cj", "-j", "-xh", "-Ux:y", "-p", "-Dd", "-n", "--continue-at", "7", "u",
        ])

        #expect(long == short)
        #expect(long.login?.user == "a" && long.login?.password == "b:c")
    }

    @Test(arguments: [
        ["-d", "--data"], ["-d", "--data-ascii"], ["-T", "--upload-file"], ["-b", "--cookie"], ["-u", "--user"],
        ["-E", "--cert"], ["-U", "--proxy-user"],
    ])
    func `a long name means what its letter does`(names: [String]) throws {
        #expect(try Arguments([names[0], "@f", "u"]) == Arguments([names[1], "@f", "u"]))
    }

    @Test func `a value without an equals sign is a file of cookies`() throws {
        // With the mark behind it the equals sign is another character, and the same byte.
        let cookies = try Arguments(["--cookie", "f", "-b", "", "-b", "a=b", "-b", "a=\u{301}", "u"]).cookies
        #expect(cookies.isOn && cookies.files == ["f"] && cookies.extra == ["a=b", "a=\u{301}"])
    }

    @Test func `--no- takes a switch back, and other options have no opposite`() throws {
        let usual = try Arguments(["u"])
        for words in [
            ["-L", "--no-location"], ["-s", "--no-silent"], ["-f", "--no-fail"], ["-I", "--no-head"],
            ["-G", "--no-get"],
            ["--compressed", "--no-compressed"], ["-k", "--no-insecure"], ["-Z", "--no-parallel"],
            ["-n", "--no-netrc"], ["--no-keepalive", "--keepalive"], ["--no-sessionid", "--sessionid"],
            ["--post301", "--no-post301"], ["--no-progress-meter", "--progress-meter"], ["--no-clobber", "--clobber"],
            ["-g", "--no-globoff"], ["--no-buffer"], ["--buffer"], ["-N"], ["--http1.0", "--http1.1"],
            ["-#", "--no-progress-bar"], ["--digest", "--no-digest"], ["--anyauth", "--no-anyauth"], ["--no-basic"],
            ["--proxy-digest", "--no-proxy-digest"], ["--no-proxy-basic", "--no-proxy-anyauth"],
            ["--fail-with-body", "--no-fail-with-body"],
            ["-f", "--no-fail", "--fail-with-body", "--no-fail-with-body"],
        ] {
            #expect(try Arguments(words + ["u"]) == usual, "\(words)")
        }
        #expect(try Arguments(["--digest", "--no-basic", "--no-anyauth", "u"]) == Arguments(["--digest", "u"]))
        for word in ["--no-output", "--no-data", "--no-http1.1", "--no-user"] {
            #expect { try Arguments([word, "u"]) } throws: {
                ($0 as? ArgumentError)?.message.hasSuffix("has no opposite") == true
            }
        }
    }

    @Test(arguments: [["-f", "--fail-with-body"], ["--fail-with-body", "--fail"]])
    func `--fail and --fail-with-body exclude each other`(words: [String]) throws {
        #expect {
            try Arguments(words + ["u"])
        } throws: {
            ($0 as? ArgumentError)?.message == "--fail and --fail-with-body exclude each other"
        }
        #expect(try Arguments([words[0], words[0], "u"]) == Arguments([words[0], "u"]))
        #expect(try Arguments([words[0], "--no-\(words[1].dropFirst(2))", "u"]) == Arguments([words[0], "u"]))
    }

    @Test(arguments: [
        ("--ouput", "there is no option --ouput; did you mean --output?"),
        ("--silen", "there is no option --silen; did you mean --silent?"),
        ("--retry-conn", "there is no option --retry-conn; did you mean --retry-connrefused?"),
        ("--output=f", "there is no option --output=f: the value is a word of its own, --output VALUE"),
        (
            "--ftp-pasv",
            "--ftp-pasv is an option of curl that afnet refuses: it is for other protocols than http and https"
        ),
        ("-P", "-P is an option of curl that afnet refuses: it is for other protocols than http and https"),
        (
            "--keepalive-cnt",
            "--keepalive-cnt is an option of curl that afnet refuses: afnet leaves the sockets as they are"
        ),
        ("--nonsense", "there is no option --nonsense"), ("-%", "there is no option -%"),
    ])
    func `an option that there is not gets the nearest name, or the reason`(word: String, message: String) {
        #expect { try Arguments([word, "u"]) } throws: { ($0 as? ArgumentError)?.message == message }
    }

    @Test(arguments: [("lnit", "lint"), ("evnets", "events"), ("serv", "serve"), ("completions", "completion")])
    func `a first word that is nearly a command is refused`(word: String, command: String) {
        #expect {
            try Arguments([word, "x"])
        } throws: {
            ($0 as? ArgumentError)?.message.contains("there is no command \(word); did you mean \(command)?") == true
        }
        #expect(throws: Never.self) { try Arguments(["get", word]) }
        #expect(throws: Never.self) { try Arguments(["http://\(word)/", "\(word).example", "localhost"]) }
    }

    @Test func `the k-th file to upload belongs to the k-th URL`() throws {
        let arguments = try Arguments(["-T", "a", "-T", "-", "u", "v", "w"])
        #expect(arguments.uploads == ["a", "-"] && arguments.urls.count == 3)
        for words in [["-T", "a", "-T", "b", "u"], ["-T", "-", "-T", "-", "u", "v"], ["-T", "-", "u[1-2]"]] {
            #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
        }
    }

    @Test func `--next in front of the first URL of a group says nothing`() throws {
        let groups = try Arguments.groups(["-s", "--next", "a", "--next", "--next", "-X", "PUT", "b"])
        #expect(groups.map(\.urls) == [["a"], ["b"]] && groups[1].method == "PUT")
        #expect(groups.map(\.isSilent) == [true, false])
        for words in [["--next"], ["-s", "--next"], ["a", "--next", "--next"]] {
            #expect { try Arguments.groups(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
        }
    }

    @Test func `a range without a dash begins there, and -O can be taken back`() throws {
        #expect(try Arguments(["-r", "4", "u"]).range == "4-" && Arguments(["-r", "4-5", "u"]).range == "4-5")
        #expect(try Arguments(["--remote-name-all", "--no-remote-name", "u"]).targets == [.path("-")])
    }

    @Test func `schemes are allowed by lists`() throws {
        func allowed(_ words: String...) throws -> Set<String> {
            Set(try Arguments(words + ["u"]).schemes.allowed.map(\.rawValue))
        }
        #expect(try allowed() == ["http", "https"] && allowed("--proto", "=https") == ["https"])
        #expect(try allowed("--proto", "-all,HTTP") == ["http"] && allowed("--proto", "-http") == ["https"])
        #expect(try allowed("--proto", "=https,ftp", "--proto", "+http") == ["http", "https"])
        #expect(throws: ArgumentError.self) { try allowed("--proto", "=htps") }
    }

    @Test func `a certificate may have its passphrase behind a colon, which is a secret`() throws {
        let security = try Arguments(["-E", "a\\:b.pem:se:cret", "u"]).security
        #expect(security.certificate == "a:b.pem" && security.passphrase == "se:cret")
        #expect(try Arguments(["-E", "f", "--cert-type", "P12", "u"]).security.certificateType == .pkcs12)
        #expect(throws: ArgumentError.self) { try Arguments(["-E", "f:a", "--cert-pass-file", "g", "u"]) }
    }

    @Test func `several data options are the fields of one form`() throws {
        #expect(try Arguments(["-d", "a=1", "-d", "b=2", "u"]).body == .text("a=1&b=2"))
    }

    @Test func `a header option sets, empties or takes out a field`() throws {
        let fields = try Arguments(["-H", "A:  b: c", "-H", "Empty;", "-H", "Content-Type: ", "u"]).fields

        #expect(
            fields == [.set(name: "A", value: "b: c"), .set(name: "Empty", value: ""), .removed(name: "Content-Type")]
        )
    }

    @Test(arguments: [
        [], ["--nonsense", "u"], ["--rate", "0/s", "u"], ["--rate", "1/x", "u"], ["-Z", "--rate", "1", "u"],
        ["--proto", "=x", "u"], ["--no-clobber", "-C", "-", "-o", "f", "u"], ["-4", "--cache", "d", "u"], ["u", "-o"],
        ["-m", "soon", "u"], ["-m", "-1", "u"], ["-m", "nan", "u"],
        ["--max-filesize", "1x", "u"], ["-I", "-d", "x", "u"],
        ["-d", "x", "--data-file", "f", "u"], ["-T", "f", "-d", "x", "u"],
        ["--auth", "ntlm", "-u", "a:b", "u"], ["-u", "a:b", "--bearer", "c", "u"], ["-L", "--max-redirs", "-2", "u"],
        ["-L", "--keep-post", "307", "u"], ["--resume", "u"], ["-C", "x", "u"], ["-r", "0-1", "-C", "3", "u"],
        ["--cache-mode", "reload", "u"], ["--cache", "d", "--cache-mode", "never", "u"],
        ["-G", "-T", "f", "u"], ["-T", "-", "-C", "2", "u"], ["-d", "x", "-C", "2", "u"],
        ["-T", "f", "-r", "2-", "u"], ["-F", "a=b", "-r", "0-1", "u"], ["-T", "f", "-C", "-", "u", "v"],
        ["--json", "1", "-d", "2", "u"], ["--connect-to", "a:80:b:80", "-x", "h", "u"],
        ["--retry-delay", "1", "u"], ["--parallel-max", "2", "u"], ["-Z", "--parallel-max", "0", "u"],
        ["--limit-rate", "0", "u"], ["--limit-rate", "1x", "u"], ["--policy", "f", "-k", "u"],
        ["--tlsv1.3", "--tls-max", "1.2", "u"], ["--tls-max", "1.1", "u"], ["-w", "%{nothing}", "u"],
        ["-w", "%{", "u"],
        ["--once", "u"], ["--port", "1", "u"], ["reach", "a", "b"], ["reach", "-o", "f"], ["serve"],
        ["serve", "--ca-out", "f", "d"], ["serve", "--port", "70000", "d"], ["lint"], ["completion"],
        ["-OJ", "-C", "3", "u"], ["--output-dir", "d", "u"],
        ["-m", "1e19", "u"], ["--connect-timeout", "1000000001", "u"], ["-m", "inf", "u"],
        ["--retry", "1", "--retry-max-time", "1e300", "u"],
    ])
    func `a bad command line is 2`(words: [String]) {
        #expect(throws: ArgumentError.self) { try Arguments(words) }
        #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
    }

    @Test(
        arguments: [
            ([[0xE9]], "argument 1 is not UTF-8: bytes for a body"),
            ([Array("--data".utf8), [0x63, 0xE9]], "argument 2, the value of --data, is not UTF-8: bytes for a body"),
            ([Array("-sd".utf8), [0xE9]], "argument 2, the value of --data, is not UTF-8: bytes for a body"),
            ([Array("-da".utf8), [0xE9]], "argument 2 is not UTF-8: bytes for a body"),
            ([Array("-s".utf8), [0xE9]], "argument 2 is not UTF-8: bytes for a body"),
            ([Array("-".utf8), [0xE9]], "argument 2 is not UTF-8: bytes for a body"),
            (
                [Array("u".utf8), Array("-o".utf8), [0xC3]],
                "argument 3, the value of --output, is not UTF-8: give it a name"
            ),
        ] as [([[UInt8]], String)]
    )
    func `a word that is not UTF-8 is 2, and named`(words: [[UInt8]], message: String) {
        #expect {
            try CommandWords.text(of: words)
        } throws: {
            let error = $0 as? ArgumentError
            return error?.code == .usage && error?.message.hasPrefix(message) == true
        }
    }

    @Test func `words in UTF-8 stay unchanged`() throws {
        let words = ["", "café", "\u{FFFD}", "🙂"]

        #expect(try CommandWords.text(of: words.map { Array($0.utf8) }) == words)
    }

    @Test func `times are bounded, and the error says by what`() throws {
        #expect(try Arguments(["--retry", "1", "--retry-delay", "1e9", "u"]).retries.delay == 1e9)
        #expect {
            try Arguments(["--retry", "1", "--retry-delay", "1e19", "u"])
        } throws: {
            let error = $0 as? ArgumentError
            return error?.code == .usage
                && error?.message == "--retry-delay needs a number of seconds, at most 1000000000, not \"1e19\""
        }
    }

    @Test(arguments: [
        ["-x", "ftp://h", "u"], ["-x", "h:99999", "u"],
        ["-x", "h", "--proxy-header", "A:", "u"],
        ["-H", "no colon", "u"], ["-H", ": x", "u"], ["-H", "Host:", "u"], ["--unix-socket", "", "u"],
        ["--unix-socket", String(repeating: "x", count: 108), "u"],
    ])
    func `a bad value is 43`(words: [String]) {
        #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .badArgument }
    }
}
