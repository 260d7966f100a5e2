import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFState

@Suite("Digest answers")
struct DigestVectorTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    private static func session(
        _ challenge: String,
        user: String = "Mufasa",
        password: String = "Circle of Life",
        clientNonce: String = clientNonce,
        mayHashBody: Bool = true
    ) throws -> DigestSession? {
        let parsed = try #require(Challenge.list(challenge).first)
        return try DigestChallenge(parsed, mayHashBody: mayHashBody).flatMap { digest in
            try Array(user.utf8).withUnsafeBytes { user in
                try Array(password.utf8).withUnsafeBytes { password in
                    try DigestSession(
                        challenge: digest,
                        user: user,
                        password: password,
                        clientNonce: Array(clientNonce.utf8),
                        uses: NonceUses(digest.nonce)
                    )
                }
            }
        }
    }

    private static func fields(_ answer: DigestAnswer?) -> [String: String] {
        let value = answer.map { String(decoding: $0.fieldValue, as: UTF8.self) } ?? ""
        let pairs = Challenge.list(value).first?.parameters.map { ($0.name, $0.text) } ?? []
        return Dictionary(pairs) { _, second in "twice, \(second)" }
    }

    // MARK: - Vectors

    struct Vector: Sendable {
        let algorithm: String
        let quality: String?
        let response: String
        var body: String?
    }

    private static let vectors: [Vector] = [
        // RFC 7616 §3.9.1.
        Vector(algorithm: "MD5", quality: "auth", response: "8ca523f5e9506fed4657c9700eebdbec"),
        Vector(
            algorithm: "SHA-256",
            quality: "auth",
            response: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        ),
        // The same with every other algorithm and quality, computed by another implementation.
        Vector(
            algorithm: "SHA-512-256",
            quality: "auth",
            response: "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0"
        ),
        Vector(algorithm: "MD5-sess", quality: "auth", response: "e783283f46242139c486a698fec7211d"),
        Vector(
            algorithm: "SHA-256-sess",
            quality: "auth",
            response: "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"
        ),
        Vector(
            algorithm: "SHA-512-256-sess",
            quality: "auth",
            response: "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e"
        ),
        Vector(algorithm: "MD5", quality: "auth-int", response: "ac1b8f0d57548cdc9ee94ba471b17da9", body: "the body"),
        Vector(
            algorithm: "SHA-256",
            quality: "auth-int",
            response: "ff0784d98a40418d1b535c35a085d1916ff98eee4400a4d7ded8546e437b2dcb",
            body: "the body"
        ),
        Vector(
            algorithm: "SHA-512-256-sess",
            quality: "auth-int",
            response: "8fc747ed7b6520b32a63d2cae73b9965960ba130304b153345f25594ac844b88",
            body: "the body"
        ),
        Vector(algorithm: "MD5", quality: nil, response: "7b2cc3b30e75b4777ea31027084363fd"),
        Vector(
            algorithm: "SHA-256",
            quality: nil,
            response: "a1306b0595a6c7fe96c448631fb5cfbd5107bd1fe1da729d978dd7446b812363"
        ),
    ]

    @Test("answers are those of RFC 7616 in every algorithm, T-AUT-05", arguments: vectors)
    func algorithms(vector: Vector) throws {
        let quality = vector.quality.map { ", qop=\"\($0)\"" } ?? ""
        let session = try #require(
            try Self.session(
                "Digest realm=\"http-auth@example.org\"\(quality), algorithm=\(vector.algorithm), "
                    + "nonce=\"\(Self.nonce)\", opaque=\"\(Self.opaque)\""
            )
        )
        let digest = try vector.body.map { body in
            let digest = try #require(MessageDigest(session.challenge.algorithm.function))
            digest.add(Array(body.utf8))
            return DigestAlgorithm.hexadecimal(try #require(digest.finish()))
        }
        let answer = session.answer(
            method: Array("GET".utf8),
            target: Array("/dir/index.html".utf8),
            bodyDigest: digest
        )
        let fields = Self.fields(answer)
        #expect(fields["response"] == vector.response)
        #expect(fields["username"] == "Mufasa" && fields["realm"] == "http-auth@example.org")
        #expect(fields["uri"] == "/dir/index.html" && fields["nonce"] == Self.nonce && fields["opaque"] == Self.opaque)
        #expect(fields["algorithm"] == vector.algorithm)
        #expect(fields["qop"] == vector.quality)
        #expect(fields["nc"] == vector.quality.map { _ in "00000001" })
        #expect(fields["cnonce"] == vector.quality.map { _ in Self.clientNonce })
    }

    @Test("an empty body of auth-int is the digest of nothing, T-AUT-05")
    func emptyBody() throws {
        let session = try #require(
            try Self.session(
                "Digest realm=\"http-auth@example.org\", qop=auth-int, algorithm=MD5, nonce=\"\(Self.nonce)\""
            )
        )
        let target = Array("/dir/index.html".utf8)
        _ = session.answer(method: Array("GET".utf8), target: target)
        let second = session.answer(method: Array("GET".utf8), target: target)
        #expect(Self.fields(second)["response"] == "d2455c821d8247a32c77203f5802c8a7")
    }

    @Test func `a count has eight digits`() {
        let use = DigestUse(nonce: [], clientNonce: [], count: 0x0A2B_4C6D, target: [])

        #expect(String(decoding: use.countDigits, as: UTF8.self) == "0a2b4c6d")
    }

    @Test("names beyond ASCII are hashed or encoded where the server knows UTF-8, T-AUT-05")
    func names() throws {
        let challenge =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, charset=UTF-8, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", "
            + "opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\""
        func answer(_ challenge: String) throws -> [String: String] {
            let session = try Self.session(
                challenge,
                user: "J\u{E4}s\u{F8}n Doe",
                password: "Secret, or not?",
                clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
            )
            return Self.fields(session?.answer(method: Array("GET".utf8), target: Array("/doe.json".utf8)))
        }
        // RFC 7616 §3.9.2 with its erratum 4897.
        let hashed = try answer(challenge + ", userhash=true")
        #expect(hashed["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(hashed["userhash"] == "true" && hashed["username*"] == nil)
        #expect(hashed["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")

        #expect(try Self.session("Digest realm=r, nonce=n, qop=auth, domain=\"\"")?.challenge.domain == nil)
        #expect(try Self.session("Digest realm=r, nonce=n, qop=auth, domain=\"/\"")?.challenge.domain?.count == 1)

        let encoded = try answer(challenge)
        #expect(encoded["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe" && encoded["username"] == nil)
        #expect(encoded["userhash"] == nil)
        #expect(encoded["response"] == hashed["response"])

        // What is ASCII is sent as it is.
        let ascii = try Self.session("Digest realm=r, nonce=n, qop=auth, charset=UTF-8")
        let field = try #require(ascii?.answer(method: Array("GET".utf8), target: Array("/".utf8))).fieldValue
        #expect(
            String(decoding: field, as: UTF8.self).hasPrefix("Digest username=\"Mufasa\", realm=\"r\", uri=\"/\", ")
        )

        let plain = try answer(challenge.replacing("charset=UTF-8, ", with: ""))
        #expect(plain["username"] == "J\u{E4}s\u{F8}n Doe" && plain["username*"] == nil)
    }

    @Test("older examples of the standards, T-AUT-05")
    func older() throws {
        func response(_ quality: String) throws -> String? {
            let session = try Self.session(
                "Digest realm=\"testrealm@host.com\"\(quality), nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
                password: "Circle Of Life",
                clientNonce: "0a4f113b"
            )
            let fields = Self.fields(session?.answer(method: Array("GET".utf8), target: Array("/dir/index.html".utf8)))
            #expect(fields["algorithm"] == nil)
            return fields["response"]
        }
        #expect(try response(", qop=\"auth,auth-int\"") == "6629fae49393a05397450978507c4ef1")
        #expect(try response("") == "670fd8c2df070c60b045671b8b24ff02")
    }

    // MARK: - Challenges

    struct Row: Sendable {
        let parameters: String
        /// Algorithm and quality; nil for a challenge that is not answered.
        let expected: String?

        init(_ parameters: String, _ expected: String?) {
            self.parameters = parameters
            self.expected = expected
        }
    }

    private static let rows: [Row] = [
        Row("realm=r, nonce=n", "MD5 legacy"),
        Row("realm=\"r\", nonce=\"n\"", "MD5 legacy"),
        Row("nonce=n, realm=r", "MD5 legacy"),
        Row("realm=r, nonce=n, algorithm=MD5", "MD5 legacy"),
        Row("realm=r, nonce=n, algorithm=\"MD5\"", "MD5 legacy"),
        Row("realm=r, nonce=n, algorithm=md5", "MD5 legacy"),
        Row("realm=r, nonce=n, algorithm=Md5, qop=auth", "MD5 auth"),
        Row("realm=r, nonce=n, qop=auth", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=AUTH", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"AUTH,AUTH-INT\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth,auth-int\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth-int,auth\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth-int, auth\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\" auth ,\tauth-int \"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\",auth,\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth, new\"", "MD5 auth"),
        Row("realm=r, nonce=n, qop=\"auth-int\"", "MD5 authInt"),
        Row("realm=r, nonce=n, qop=auth-int", "MD5 authInt"),
        Row("realm=r, nonce=n, qop=\"\"", nil),
        Row("realm=r, nonce=n, qop=\"new\"", nil),
        Row("realm=r, nonce=n, qop=\"auth auth-int\"", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=MD5-sess", "MD5-sess auth"),
        Row("realm=r, nonce=n, qop=auth, algorithm=md5-SESS", "MD5-sess auth"),
        Row("realm=r, nonce=n, algorithm=MD5-sess", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-256", "SHA-256 auth"),
        Row("realm=r, nonce=n, qop=auth, algorithm=sha-256", "SHA-256 auth"),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-256-sess", "SHA-256-sess auth"),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-512-256", "SHA-512-256 auth"),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-512-256-sess", "SHA-512-256-sess auth"),
        Row("realm=r, nonce=n, qop=auth-int, algorithm=SHA-256-sess", "SHA-256-sess authInt"),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-512", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA256", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=SHA-1", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=\"\"", nil),
        Row("realm=r, nonce=n, qop=auth, algorithm=AKAv1-MD5", nil),
        Row("realm=r, nonce=n, qop=auth, unknown=1", "MD5 auth"),
        Row("realm=r, nonce=n, qop=auth, charset=ISO-8859-1", "MD5 auth"),
        Row("realm=r, nonce=n, qop=auth, stale=maybe", "MD5 auth"),
        Row("realm=r, nonce=n, qop=auth, domain=\"\"", "MD5 auth"),
        Row("realm = r , nonce = n , qop = auth", "MD5 auth"),
        Row("realm=\"a\\\"b\", nonce=n, qop=auth", "MD5 auth"),
    ]

    @Test("challenges that can be answered are answered, all others are left alone, T-AUT-05", arguments: rows)
    func challenges(row: Row) throws {
        let challenge = try #require(Challenge.list("Digest " + row.parameters).first)
        let digest = DigestChallenge(challenge, mayHashBody: true)
        #expect(digest.map { "\($0.algorithm.name) \($0.quality)" } == row.expected)
    }

    @Test("auth-int is answered only if the body can be read once more, T-AUT-05")
    func integrity() throws {
        let only = try #require(Challenge.list("Digest realm=r, nonce=n, qop=auth-int").first)
        #expect(DigestChallenge(only, mayHashBody: false).map(\.quality) == nil)
        let both = try #require(Challenge.list("Digest realm=r, nonce=n, qop=\"auth,auth-int\"").first)
        #expect(try #require(DigestChallenge(both, mayHashBody: false)).quality == .auth)
    }

    private static let long = String(repeating: "n", count: 65_536)

    @Test(
        "a challenge with something missing, empty, doubled or far too long is ignored, T-AUT-06",
        arguments: [
            "Digest", "Digest realm=r", "Digest nonce=n", "Digest realm=\"\", nonce=n", "Digest realm=r, nonce=\"\"",
            "Digest abc=", "Digest realm=r, nonce=\"\u{0}\"", "Digest realm=\"\u{1}\", nonce=n",
            "Digest realm=r, nonce=n, opaque=\"\u{1F}\"", "Digest realm=r, nonce=n, nonce=m",
            "Digest realm=r, nonce=\"\(long)\"", "Digest realm=\"\(long)\", nonce=n",
            "Digest realm=r, nonce=n, opaque=\"\(long)\"", "Digest realm=\"r, nonce=n", "Digest realm=r, nonce=n\\",
            "Digest realm=r nonce=n", "Basic nonce=n, realm=r",
        ]
    )
    func ignored(text: String) {
        let challenges = Challenge.list(text).compactMap { DigestChallenge($0, mayHashBody: true) }
        #expect(challenges.isEmpty)
    }

    @Test(
        "the longest realm, nonce and opaque value that come back have 4 KiB, T-AUT-06",
        arguments: [4095, 4096, 4097]
    )
    func lengths(length: Int) throws {
        let text = String(repeating: "x", count: length)
        for (parameters, others) in [
            ("realm=\"\(text)\"", "nonce=n"), ("nonce=\"\(text)\"", "realm=r"),
            ("opaque=\"\(text)\"", "realm=r, nonce=n"),
        ] {
            let challenge = try #require(Challenge.list("Digest \(parameters), \(others)").first)
            #expect((DigestChallenge(challenge, mayHashBody: true) == nil) == (length > 4096), "\(others)")
        }
    }

    @Test func `words say what they mean in any case, and nothing else`() throws {
        func challenge(_ parameters: String) throws -> DigestChallenge {
            let challenge = try #require(Challenge.list("Digest realm=r, nonce=n, \(parameters)").first)
            return try #require(DigestChallenge(challenge, mayHashBody: true))
        }
        for (word, holds) in [("true", true), ("\"TRUE\"", true), ("maybe", false), ("false", false)] {
            #expect(try challenge("stale=\(word)").isStale == holds)
            #expect(try challenge("userhash=\(word)").hashesUser == holds)
        }
        for (word, holds) in [("UTF-8", true), ("utf-8", true), ("utf8", false), ("ISO-8859-1", false)] {
            #expect(try challenge("charset=\(word)").wantsUTF8 == holds)
        }
        let plain = try challenge("qop=auth")
        #expect(!plain.isStale && !plain.hashesUser && !plain.wantsUTF8 && !plain.namesAlgorithm)
        #expect(plain.opaque == nil && plain.domain == nil)
        #expect(try challenge("algorithm=MD5").namesAlgorithm)
    }

    @Test func `of a list of paths the first 63 are read, and any number does no harm`() throws {
        for count in [1, 63, 64, 65, 1000] {
            let words = (1...count).map { "/\($0)" }
            let domain = try Self.session("Digest realm=r, nonce=n, domain=\"\(words.joined(separator: " "))\"")?
                .challenge.domain
            #expect(domain?.count == min(count, 64))
            #expect(domain?.prefix(63).map { String(decoding: $0, as: UTF8.self) } == Array(words.prefix(63)))
        }
    }

    @Test("values of the server come back quoted and say the same, T-AUT-07")
    func requoted() throws {
        let session = try #require(
            try Self.session(
                "Digest realm=\"a\\\"b\\\\c, d=e\", nonce=\"x\\\" , qop=none\", opaque=\"\\\\\\\"\", qop=auth",
                user: "us\"er\\"
            )
        )
        let answer = try #require(session.answer(method: Array("GET".utf8), target: Array("/a".utf8)))
        let challenges = answer.fieldValue.withUnsafeBytes { Challenge.list($0) }
        #expect(challenges.count == 1)
        let fields = Self.fields(answer)
        #expect(fields["realm"] == "a\"b\\c, d=e" && fields["nonce"] == "x\" , qop=none" && fields["opaque"] == "\\\"")
        #expect(fields["username"] == "us\"er\\" && fields["qop"] == "auth")
        #expect(!answer.fieldValue.contains(where: ByteScanning.isForbiddenControl))
    }

    @Test("a user name that would end the field is refused, T-AUT-07")
    func userWithControl() throws {
        #expect(throws: RequestRejection.self) {
            try Self.session("Digest realm=r, nonce=n, qop=auth", user: "a\r\nX-Evil: 1")
        }
    }

    // MARK: - Counting

    @Test func `T-AUT-08 a nonce that was used four thousand million times is not used again`() throws {
        let session = try #require(try Self.session("Digest realm=r, nonce=n, qop=auth"))
        let uses = NonceUses(Array("m".utf8))
        uses.count = .max - 1
        session.renew(uses, clientNonce: Array("c".utf8))
        func answer() -> DigestAnswer? { session.answer(method: Array("GET".utf8), target: Array("/".utf8)) }

        #expect(Self.fields(answer())["nc"] == "ffffffff")
        #expect(answer() == nil && uses.next() == nil)
    }

    @Test func `T-AUT-07 an answer with a character that no field may hold is not written`() throws {
        let session = try #require(try Self.session("Digest realm=r, nonce=n, qop=auth"))
        for target in ["/\u{0}", "/\r\nX: y", "/\u{7F}"] {
            #expect(session.answer(method: Array("GET".utf8), target: Array(target.utf8)) == nil)
        }
    }

    @Test("each answer counts by one, and a new nonce begins anew, T-AUT-08")
    func counting() throws {
        let session = try #require(try Self.session("Digest realm=r, nonce=n, qop=auth"))
        func next() -> [String: String] {
            Self.fields(session.answer(method: Array("GET".utf8), target: Array("/".utf8)))
        }
        let counts = (0..<20).map { _ in next()["nc"] }
        #expect(counts.first == "00000001" && counts[9] == "0000000a" && counts[15] == "00000010")
        #expect(Set(counts).count == 20)

        session.renew(NonceUses(Array("m".utf8)), clientNonce: Array("other".utf8))
        let renewed = next()
        #expect(renewed["nc"] == "00000001" && renewed["nonce"] == "m" && renewed["cnonce"] == "other")
    }

    @Test("the key of a session algorithm outlives its nonce, T-AUT-08")
    func sessionKey() throws {
        let session = try #require(
            try Self.session(
                "Digest realm=\"http-auth@example.org\", qop=auth, algorithm=MD5-sess, nonce=\"\(Self.nonce)\""
            )
        )
        session.renew(NonceUses(Array("next".utf8)), clientNonce: Array("mine".utf8))
        let answer = Self.fields(session.answer(method: Array("GET".utf8), target: Array("/dir/index.html".utf8)))
        let md5 = DigestAlgorithm(.md5)
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        let password = try #require(
            md5.digest(bytes("Mufasa"), bytes("http-auth@example.org"), bytes("Circle of Life"))
        )
        let key = try #require(md5.digest(password, bytes(Self.nonce), bytes(Self.clientNonce)))
        let request = try #require(md5.digest(bytes("GET"), bytes("/dir/index.html")))
        let expected = try #require(
            md5.digest(key, bytes("next"), bytes("00000001"), bytes("mine"), bytes("auth"), request)
        )
        #expect(answer["response"] == String(decoding: expected, as: UTF8.self))
    }

    @Test("the answer is for exactly the target of the request line, T-AUT-11")
    func target() throws {
        for target in ["/a?b=c&d=%20", "/%7euser/..//x", "http://example.org:8080/a?b", "example.org:443", "*", "/\"'"]
        {
            let session = try #require(try Self.session("Digest realm=r, nonce=n"))
            let answer = Self.fields(session.answer(method: Array("OPTIONS".utf8), target: Array(target.utf8)))
            let md5 = DigestAlgorithm(.md5)
            let key = try #require(md5.digest(Array("Mufasa:r:Circle of Life".utf8)))
            let request = try #require(md5.digest(Array("OPTIONS:\(target)".utf8)))
            let expected = try #require(md5.digest(key, Array("n".utf8), request))
            #expect(answer["uri"] == target)
            #expect(answer["response"] == String(decoding: expected, as: UTF8.self))
        }
    }

    // MARK: - The server's proof

    @Test(
        "the server's proof is checked, T-AUT-19",
        arguments: [
            ("rspauth=\"9b712497bc9f91499fbcca1dfc5f09a5\", qop=auth, nc=00000001", DigestAnswer.Proof.right),
            ("rspauth=\"9B712497BC9F91499FBCCA1DFC5F09A5\"", .right),
            ("rspauth=9b712497bc9f91499fbcca1dfc5f09a5, cnonce=\"\(clientNonce)\"", .right),
            ("rspauth=\"9b712497bc9f91499fbcca1dfc5f09a6\"", .wrong), ("rspauth=\"\"", .wrong),
            ("rspauth=\"9b712497bc9f91499fbcca1dfc5f09a5\", nc=00000002", .wrong),
            ("rspauth=\"9b712497bc9f91499fbcca1dfc5f09a5\", cnonce=\"other\"", .wrong), ("", .absent),
            ("nextnonce=\"x\"", .absent), ("rspauth=\"9b7", .absent), ("rspauth=1, rspauth=2", .absent), ("=", .absent),
        ]
    )
    func proof(info: String, expected: DigestAnswer.Proof) throws {
        let session = try #require(
            try Self.session(
                "Digest realm=\"http-auth@example.org\", qop=auth, algorithm=MD5, nonce=\"\(Self.nonce)\""
            )
        )
        let answer = try #require(session.answer(method: Array("GET".utf8), target: Array("/dir/index.html".utf8)))
        #expect(info.withUTF8Bytes { answer.check($0).proof } == expected)
    }

    @Test(arguments: [("algorithm=MD5", DigestAnswer.Proof.wrong), ("qop=auth", .wrong), ("qop=auth-int", .absent)])
    func `T-AUT-19 a proof that covers the body is not checked`(quality: String, expected: DigestAnswer.Proof) throws {
        let session = try #require(try Self.session("Digest realm=r, nonce=n, \(quality)"))
        let answer = try #require(session.answer(method: Array("GET".utf8), target: Array("/".utf8)))
        #expect("rspauth=\"00\"".withUTF8Bytes { answer.check($0).proof } == expected)
    }

    @Test("a next nonce is taken over, unless the proof beside it is wrong, T-AUT-08, T-AUT-19")
    func nextNonce() throws {
        let session = try #require(try Self.session("Digest realm=r, nonce=n, qop=auth"))
        let answer = try #require(session.answer(method: Array("GET".utf8), target: Array("/".utf8)))
        func next(_ info: String) -> String? {
            info.withUTF8Bytes { answer.check($0).nextNonce }.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(next("nextnonce=\"m\"") == "m")
        #expect(next("nextnonce=\"m\", rspauth=\"wrong\"") == nil)
        #expect(next("nextnonce=\"n\"") == nil && next("nextnonce=\"\"") == nil && next("qop=auth") == nil)
        let longest = String(repeating: "x", count: 4096)
        #expect(next("nextnonce=\"\(longest)\"") == longest && next("nextnonce=\"\(longest)x\"") == nil)
        // To read the field changes nothing.
        #expect(session.nonce == Array("n".utf8))
    }
}
