import Foundation
import Testing

@testable import AFTLS

/// Authorities that people make for tests and for one company, by the commands that they use.
@Suite struct LocalAuthorityTests {
    /// Commands that make `ca.pem`, and `site.pem` with what the server sends.
    struct Recipe: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
        /// Nil if the recipe puts no host into the certificate.
        var host: String? = "good.test"
        /// What OpenSSL 3.0 and 3.5 both leave out of the root.
        var flaws: Set<AuthorityFlaw.Kind> = []

        init(
            _ name: String,
            host: String? = "good.test",
            flaws: Set<AuthorityFlaw.Kind> = [],
            _ script: String
        ) {
            (testDescription, self.host, self.flaws, self.script) = (name, host, flaws, script)
        }
    }

    private static let authority = """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj "/CN=My CA"

        """
    private static let request = """
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout site.key -out site.csr \
            -subj "/CN=good.test"

        """
    private static let named = """
        printf 'subjectAltName = DNS:good.test' >san.cnf
        openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out site.pem -extfile san.cnf

        """
    /// A configuration without extensions of its own.
    private static let plain = """
        printf '[req]\ndistinguished_name = dn\n[dn]\n' >plain.cnf

        """
    private static let standard = """
        standard="$(openssl version -d | cut -d '"' -f 2)/openssl.cnf"

        """

    static let recipes: [Recipe] = [
        Recipe("req -x509, x509 -req", flaws: [.missingKeyUsage], authority + request + named),
        Recipe(
            "the names are copied from the request",
            flaws: [.missingKeyUsage],
            authority + """
                openssl req -new -newkey rsa:2048 -nodes -keyout site.key -out site.csr -subj "/CN=good.test" \
                    -addext "subjectAltName = DNS:good.test"
                openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out site.pem \
                    -copy_extensions copy
                """
        ),
        Recipe(
            "x509 -req without extensions",
            host: nil,
            flaws: [.missingKeyUsage],
            authority + request + """
                openssl x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out site.pem
                """
        ),
        Recipe(
            "req -x509 with a key usage",
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj "/CN=My CA" \
                -addext "keyUsage = critical, keyCertSign, cRLSign"

            """ + request + named
        ),
        Recipe(
            "req -x509 on an Edwards curve",
            flaws: [.missingKeyUsage],
            """
            openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.pem -subj "/CN=My CA"

            """ + request + named
        ),
        Recipe(
            "req -x509 with nothing but basic constraints",
            flaws: [.missingKeyUsage, .uncriticalConstraints],
            plain + """
                openssl req -x509 -config plain.cnf -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem \
                    -subj "/CN=My CA" -addext "basicConstraints = CA:TRUE"

                """ + request + named
        ),
        Recipe(
            "req -x509 with a limited depth",
            flaws: [.missingKeyUsage],
            plain + """
                openssl req -x509 -config plain.cnf -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem \
                    -subj "/CN=My CA" -addext "basicConstraints = critical, CA:TRUE, pathlen:0"

                """ + request + named
        ),
        Recipe(
            "x509 -req -signkey with the extensions of openssl.cnf",
            host: nil,
            flaws: [.missingKeyUsage],
            standard + request + """
                openssl req -new -newkey rsa:2048 -nodes -keyout ca.key -out ca.csr -subj "/CN=My CA"
                openssl x509 -req -in ca.csr -extfile "$standard" -extensions v3_ca -signkey ca.key -out ca.pem
                openssl x509 -req -in site.csr -extfile "$standard" -extensions usr_cert -CA ca.pem -CAkey ca.key \
                    -CAcreateserial -out site.pem
                """
        ),
        Recipe(
            "CA.pl -newca, -newreq, -sign",
            host: nil,
            flaws: [.missingKeyUsage],
            """
            mkdir -p demoCA/newcerts demoCA/private
            touch demoCA/index.txt
            openssl req -new -newkey rsa:2048 -nodes -keyout demoCA/private/cakey.pem -out demoCA/careq.pem \
                -subj "/C=GB/ST=Berkshire/O=My Company/CN=My CA"
            openssl ca -create_serial -out demoCA/cacert.pem -days 1095 -batch -keyfile demoCA/private/cakey.pem \
                -selfsign -extensions v3_ca -infiles demoCA/careq.pem
            openssl req -new -newkey rsa:2048 -nodes -keyout newkey.pem -out newreq.pem -days 365 \
                -subj "/C=GB/ST=Berkshire/O=My Company/CN=good.test"
            openssl ca -batch -policy policy_anything -out newcert.pem -infiles newreq.pem
            openssl x509 -in demoCA/cacert.pem -out ca.pem
            openssl x509 -in newcert.pem -out site.pem
            """
        ),
        Recipe(
            "an intermediate with a key usage",
            flaws: [.missingKeyUsage],
            authority + request + """
                openssl req -new -newkey rsa:2048 -nodes -keyout middle.key -out middle.csr -subj "/CN=My Middle"
                printf 'basicConstraints = critical, CA:TRUE, pathlen:0\nkeyUsage = critical, keyCertSign\n' >m.cnf
                printf 'subjectKeyIdentifier = hash\nauthorityKeyIdentifier = keyid\n' >>m.cnf
                openssl x509 -req -in middle.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out middle.pem -extfile m.cnf
                printf 'subjectAltName = DNS:good.test' >san.cnf
                openssl x509 -req -in site.csr -CA middle.pem -CAkey middle.key -CAcreateserial -out site.pem \
                    -extfile san.cnf
                cat middle.pem >>site.pem
                """
        ),
        Recipe(
            "a server's own certificate by req -x509",
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout site.key -out site.pem -subj "/CN=good.test" \
                -addext "subjectAltName = DNS:good.test"
            cp site.pem ca.pem
            """
        ),
        Recipe(
            "make-ssl-cert of Debian's ssl-cert",
            """
            printf '[ req ]\ndefault_bits = 2048\ndefault_keyfile = privkey.pem\n' >ssleay.cnf
            printf 'distinguished_name = req_distinguished_name\nprompt = no\npolicy = policy_anything\n' >>ssleay.cnf
            printf 'req_extensions = v3_req\nx509_extensions = v3_req\n' >>ssleay.cnf
            printf '[ req_distinguished_name ]\ncommonName = good.test\n' >>ssleay.cnf
            printf '[ v3_req ]\nbasicConstraints = CA:FALSE\nsubjectAltName = DNS:good.test\n' >>ssleay.cnf
            openssl req -config ssleay.cnf -new -x509 -days 3650 -nodes -sha256 -out site.pem -keyout site.key
            cp site.pem ca.pem
            """
        ),
    ]

    /// What a recipe makes.
    private struct Made {
        let root: Certificate
        let rootPEM: [UInt8]
        let served: [Certificate]
        /// A moment at which all of it is valid, whatever the clock said when the test began.
        let moment: Int64

        init(_ script: String) throws {
            let folder = try ScratchFolder()
            let place = folder.url.path
            // What the environment names would take the place of OpenSSL's own configuration.
            _ = try Shell.run("set -e; cd '\(place)'\n\(script)", environment: ["HOME": place])
            rootPEM = Array(try Data(contentsOf: folder.file("ca.pem")))
            root = try #require(try Certificate.certificates(pem: rootPEM).first)
            served = try Certificate.certificates(atPath: "\(place)/site.pem")
            moment = ([root] + served).map(\.notBeforeSeconds).max() ?? now
        }

        func judged(for host: String?, by store: TrustStore? = nil) throws -> TrustEvaluation {
            ChainEvaluator.evaluate(
                served: served,
                policy: .tlsServer(host.flatMap { PeerName($0) }),
                store: try store ?? TrustStore([root]),
                at: moment
            )
        }
    }

    static var hasOpenSSL: Bool { (try? Shell.run("openssl version")) != nil }

    @Test(
        "an authority that openssl makes is taken, if the program names it",
        .enabled(if: hasOpenSSL),
        arguments: recipes
    )
    func openSSL(recipe: Recipe) throws {
        let made = try Made(recipe.script)

        let evaluation = try made.judged(for: recipe.host)

        #expect(evaluation.isTrusted, "\(evaluation)")
        #expect(evaluation.chain.last == made.root)
        #expect(recipe.flaws.isSubset(of: evaluation.toleratedFlaws.map(\.kind)), "\(evaluation.toleratedFlaws)")
        #expect(evaluation.toleratedFlaws.isEmpty == recipe.flaws.isEmpty)
        if evaluation.chain.count > 1 {
            #expect(evaluation.toleratedFlaws == TrustAnchors.certificates([made.root]).lint())
        }
        // Everything else is asked all the same.
        let stranger = try TrustStore([CertificateAuthority("My CA").certificate])
        #expect(try made.judged(for: "other.test").failure?.reason == .name)
        #expect(try !made.judged(for: recipe.host, by: stranger).isTrusted)
    }

    @Test("the same authority among those of the system is refused, and the failure names it", .enabled(if: hasOpenSSL))
    func ofTheSystem() throws {
        let made = try Made(Self.recipes[0].script)
        var roots = RootIndex()
        roots.add(made.rootPEM)

        let failure = try made.judged(for: "good.test", by: TrustStore([], beside: roots)).failure

        #expect(failure?.reason == .malformed && failure?.certificate == made.root && failure?.depth == 1)
        #expect(failure?.message.contains("\"CN=My CA\" is refused") == true)
        #expect(failure?.message.contains("that the program itself names as an anchor") == true)
        #expect(failure?.isForgivenIfNamed == true)
    }

    @Test("an intermediate that the same command makes is refused, T-TLS-55", .enabled(if: hasOpenSSL))
    func intermediate() throws {
        let made = try Made(
            Self.authority + Self.standard + Self.request + """
                openssl req -new -newkey rsa:2048 -nodes -keyout middle.key -out middle.csr -subj "/CN=My Middle"
                openssl x509 -req -in middle.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out middle.pem \
                    -extfile "$standard" -extensions v3_ca
                printf 'subjectAltName = DNS:good.test' >san.cnf
                openssl x509 -req -in site.csr -CA middle.pem -CAkey middle.key -CAcreateserial -out site.pem \
                    -extfile san.cnf
                cat middle.pem >>site.pem
                """
        )

        let failure = try made.judged(for: "good.test").failure

        #expect(failure?.reason == .malformed && failure?.certificate == made.served[1] && failure?.depth == 1)
        #expect(failure?.isForgivenIfNamed == false)
    }

    @Test("what mkcert makes is taken, and there is nothing to tolerate")
    func mkcert() throws {
        let chain = try Certificate.certificates(pem: Array(Self.ofMkcert.utf8))
        let root = chain[1]

        for host in ["good.test", "127.0.0.1"] {
            let evaluation = try judge([chain[0]], for: host, certificates: [root], at: root.notBeforeSeconds)
            #expect(evaluation.isTrusted && evaluation.toleratedFlaws == [], "\(evaluation)")
        }
    }

    @Test("what step makes is taken, and there is nothing to tolerate")
    func step() throws {
        let root = try CertificateAuthority("Home Root CA") {
            $0.basicConstraints = .init(isAuthority: true, pathLength: 1)
        }
        let middle = try root.makeIntermediate("Home Intermediate CA") {
            $0.basicConstraints = .init(isAuthority: true, pathLength: 0)
        }
        let site = try middle.issue(for: "good.test") {
            $0.basicConstraints = nil
            $0.extendedKeyUsage = [.serverAuthentication, .clientAuthentication]
            // The provisioner.
            $0.otherExtensions = [.init("1.3.6.1.4.1.37476.9000.64.1", value: [0x30, 0x03, 0x02, 0x01, 0x01])]
        }

        let evaluation = try judge(site.chain, anchors: [root])

        #expect(evaluation.isTrusted && evaluation.toleratedFlaws == [], "\(evaluation)")
    }

    /// `mkcert good.test 127.0.0.1` of mkcert 1.4.4, and its root.
    private static let ofMkcert = """
        -----BEGIN CERTIFICATE-----
        MIID5TCCAk2gAwIBAgIQRIdQZNwKJ+EBHHGmXvtnBDANBgkqhkiG9w0BAQsFADBB
        MR4wHAYDVQQKExVta2NlcnQgZGV2ZWxvcG1lbnQgQ0ExCzAJBgNVBAsTAnZtMRIw
        EAYDVQQDEwlta2NlcnQgdm0wHhcNMjYxMTI5MDIwNDEzWhcNMjkwMzAxMDIwNDEz
        WjA2MScwJQYDVQQKEx5ta2NlcnQgZGV2ZWxvcG1lbnQgY2VydGlmaWNhdGUxCzAJ
        BgNVBAsTAnZtMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1hjTlra2
        mg1S4/MetfZgKH9OYDKWQzfKLqFlJjDMsN53SWPt65SrWKQye2CvHXJOM6k3rEMt
        vexbfRq/Z+ZNvWHnBOeBMKlIA7jxRo9R1gi0oiU2P5KZdEsFwFHXCAV9m/SeCQRQ
        PBFCXeJ3uYgx4fGrvfgWNu00FY0FL9isg6iicNDgQmnmzpJShCHH539eLt0aph3e
        QBBr1qT8nxYDLOoomnTD1f8mCfgDI23lIB6ma+EgZ3pVU1hPsQm76USX1mMqmL87
        6tAX17rXxtbpSY35SZTh1a3GEzd3b2wMk3bR+W9XNYeIrD7HP5tvDBUq+k5ONW59
        oIwbVX9A5QI4UQIDAQABo2QwYjAOBgNVHQ8BAf8EBAMCBaAwEwYDVR0lBAwwCgYI
        KwYBBQUHAwEwHwYDVR0jBBgwFoAUsyMaft0lY7G9JMECmvOm3RdOJtEwGgYDVR0R
        BBMwEYIJZ29vZC50ZXN0hwR/AAABMA0GCSqGSIb3DQEBCwUAA4IBgQBxbN/tGpNO
        jjAyfrWRAou2a4adDTCOmoEZzCAVYxGXMz2MLWg27xG2u0h0iKJjfammSk/EusWI
        W+ih1q7jDlQQeAeY3YLBZ7sCgI4Amzke+bdmBRrrGTo8TXyX1ltK3Ok3cUJPOr9f
        immK+LZUbkqsKfNpwir+W1PuWeYfXFAfzvIhOUtLni6K77RTqHkhgzpzu+ScbXfU
        79X9rBnyBpwpX1xkKJpqduGUj7eHsOzXQsOG6IEhpM6JsUDx3roBPXOjAlEeYvu3
        HQwRnnP98HOTtj1iHNYdROiwLYiCcZ6kYIYw7c3uPoVHnN2sfZqq8A9VC2AQRIzQ
        lszRjbUMP5/GWLK57DE+D3os26hIGfPZ/WMTHewPKG57O3U7//o2VAJHrTsiAbc9
        mP15lsrm/FzdB9blcl9kJk/8+x+99bmT46qZZJY9599QQDCWUwzuW8xQwtiy34OI
        y07DpsIghkGpifn/rB0UfVhBE0qbK37jIrMhwj7WPeanzVLisQctr18=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIEUTCCArmgAwIBAgIQOteZI3nHBXnBFN9zd6YoSjANBgkqhkiG9w0BAQsFADBB
        MR4wHAYDVQQKExVta2NlcnQgZGV2ZWxvcG1lbnQgQ0ExCzAJBgNVBAsTAnZtMRIw
        EAYDVQQDEwlta2NlcnQgdm0wHhcNMjYxMTI5MDIwNDEzWhcNMzYxMTI5MDIwNDEz
        WjBBMR4wHAYDVQQKExVta2NlcnQgZGV2ZWxvcG1lbnQgQ0ExCzAJBgNVBAsTAnZt
        MRIwEAYDVQQDEwlta2NlcnQgdm0wggGiMA0GCSqGSIb3DQEBAQUAA4IBjwAwggGK
        AoIBgQDS4PRloRcoc4jJ738qLBpvWj+086qh/4hocRNukOTnT1UDh7AwyrlKFo5O
        9w9hlT0cpjj+HQXW0oNcQCuY+HmfJFeG78jTa5sktBsE3ko4PaCyymgGa92pH+JX
        tyKYp1dw4vp1vj2318WD+GTMNEqohC2x4V6IXLyi5J3ALkwv2kh8kMod1ID1LqPF
        7YZpGuMtR5Z92eFolII5tnqm0TxGxkq4bErfmV4DlRTl57iVF/sjwYJMOlFoDjzB
        BD21nnZzM9we5CohrEMN7hojmgOSWFAahmFUpJvJ0SY7C47JFEYfXWwAdhotHXL7
        iwVZNfwB/L8ZoNN0yPqXGP9txYZ6FeqE1GNcsQ6oRLwNUUP/tKuHhh/IAzmB/qvW
        aP17JQV9JiWhqn0H+wyqjL86RIZCE4ZTfiuu1DWIsfj4bfbdrpc0VpUK2jzYibct
        XimSQJtH05Yd+bXb6K1aZTCOj9ouRIr7UkfdStqwqKIoym0JCUYJDYr+7DZTOrNn
        xdtmrz0CAwEAAaNFMEMwDgYDVR0PAQH/BAQDAgIEMBIGA1UdEwEB/wQIMAYBAf8C
        AQAwHQYDVR0OBBYEFLMjGn7dJWOxvSTBAprzpt0XTibRMA0GCSqGSIb3DQEBCwUA
        A4IBgQApOlPq36TxGEZFAvaP/4BVfi+cjp6opknbGFKBfHaet/nS8yLtEvM1Vsa0
        lxL0m0SwWRJq74TAn1t/kznl0Q+jL0fAdkAGX7subfUS1q5esi2IPBaAU7Gay692
        JBlT27L8EW7ql9B8PXbTeLNkGfLlUYpNiEhECtmsYSXZxJj10BhXZC88sSGbhDOn
        tLn1RAAe3MAd2bAz8yw+60BKNlFces+OIMqIRM79n09GeVm4vcsC6k8NQ4IrMdy0
        DI9Fphrwe5RzPz3t74mkU9KzfOWpoqEcDQHtWYg2nzb1beGsk3/4dAnyXxOSBud8
        Hgd4bnOQrz3v6P8hB+UYvL2/ltWxhpxtTwO8790qwSeYZ09VIEs7qEsQcnH0Was1
        SnK6SDQbgFsByaH1oLPqE6ppmdRlnUBo+J8NCrpFi9p2RSS6uCdD4HM8+RIP1Ipw
        jr851cF99C0cq0Ruxs8H4zUPoBJH83THCQCFSuhcAO35nwunjg+Up48uwD46p6HK
        /AUnFUQ=
        -----END CERTIFICATE-----
        """
}
