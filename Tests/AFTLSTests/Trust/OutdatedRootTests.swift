import Testing

@testable import AFTLS

/// A chain whose root has a DSA key, made by the `openssl` program: no certificate of the tests' own can be signed so.
@Suite struct OutdatedRootTests {
    /// `good.test` on P-256, and "DSA Root" with 2048 bits, both valid for a hundred years.
    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBnzCCAUygAwIBAgIBTTALBglghkgBZQMEAwIwEzERMA8GA1UEAwwIRFNBIFJv
        b3QwIBcNMjYxMTI0MDM1NDMxWhgPMjEyNjEwMzEwMzU0MzFaMBQxEjAQBgNVBAMM
        CWdvb2QudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM7M7G2CgVewUb3S
        UmP5RRQjq+Rkh9u5YHdNT09IiwlBd07VRKRvudT9ZRR2EuCsTZ1N5q7sEGkOi7sz
        c+ehqOqjgYwwgYkwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwEwYDVR0l
        BAwwCgYIKwYBBQUHAwEwFAYDVR0RBA0wC4IJZ29vZC50ZXN0MB0GA1UdDgQWBBQA
        AJBrNSDNrsDaRJpxrw1ZDSSzgDAfBgNVHSMEGDAWgBQLYEkk5C807ePH8cLjsg1r
        oaOoEjALBglghkgBZQMEAwIDQAAwPQIcbsJJMfxQ7ihi1NLkbU3WYPrLornVsDDr
        Mr2+pwIdAMtKB1mYKs1cs2UisA0ECz5LVU3Ne4AHlTarBcI=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIEUTCCA/6gAwIBAgIUd4LVRXs09W81F9kb+p+G0XzmGn4wCwYJYIZIAWUDBAMC
        MBMxETAPBgNVBAMMCERTQSBSb290MCAXDTI2MTEyNDAzNTQzMVoYDzIxMjYxMDMx
        MDM1NDMxWjATMREwDwYDVQQDDAhEU0EgUm9vdDCCA0IwggI1BgcqhkjOOAQBMIIC
        KAKCAQEAgvHlEYW5o8aeyJKygnWzneQ84bKyWAmBZmxCjHOC+SpDQiRKml3S7Vgw
        dNirqI0PsZQGusno/ZHTSvI/r5JcoruyCt0FfFhmVlMDAL83DRDm+m1OmdEyFNmf
        ATdCRMhC4aLGeaqimA8AgCeh+6IIGknhNrBCWQr/NfFW/w+OeEB8XScG8p9M78LR
        tar6rh1aRs/XnTe5W6wK1akzHsZaZuZHikfL+lNt+tBIUYxmhNo/9HlYIWQyZXlP
        AWmKYvwarM1sHKC96Kw++kKNyYBDqOZFE2D6V4Gb+0yduunatlXS/1+izd6dQPf7
        IfY8n6zQ+YhQvMdNBCZr9leVGgM/dQIdAPR1wzphZQ6dFRMI1GUEWusqleA6O5by
        PeZLx18CggEAY/LsMqx6+3PyS2yLyJiEde8xOlAHuV8rVfuV6YbJmfkR4THtG92Q
        UqwRTrTHaB6duVqcMhtZCLyew5Oik/o+4HbvgBZ7MhltV1yb3FLPmnx5e4Os8RYU
        vwuASflAjR4qXPDdD+RwLcjssKQ1m2oaFseJKR2HyP6+1Mcf9lDJjvCrYffjDazG
        CZIzF3lh9d44ftNNWRbTyve3LYFHyX+XyXYF68J5vz8J+CymluHiMAice0XJ4qZ5
        3YgxA5IJHiU27bVkcFNnw7nP6JnvCdswo4mjvUI+JCrtdZeur3GUzCthc6CvTkEg
        +Sgui6j+X1w0/Ame4ZpHow1p+syw1a2sAQOCAQUAAoIBAA8rGypD9AwFfFbp3cCx
        R0QYCi3U7Bb+ZtHcKUcgrBg7RYofAIR54YgceYh6aZCOrPYMHIXQsO0AG0kIvjWo
        Qc8hnBZZz2Xc5gbAfRZf8FyffdEFnW8i5EtVQ8Hm37lZ5KeNB5nNp860XWT17L89
        yxE1dExKsJpsaooIR1tJe8TQ/K6Ket8/qpS5EgETvbhwCDD/JUzkcWKhKXyxv6u7
        QeyRAaM+DO283upiJD2alibIl30zIbE8tPikKNXb2OPNyjVe43rMtam/+yEzrbno
        vJy9d8wOGa0UqotyhR2FminarWLCSjbDsmkOfEv6ylKTASff2e0RkG0QrDUxu88l
        VFijQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQW
        BBQLYEkk5C807ePH8cLjsg1roaOoEjALBglghkgBZQMEAwIDQAAwPQIcNw6CtU17
        5rOgexXcEg+mV69MMVbD68K8tfRcCQIdAL5AMVtTX3P9uXn7rIwIBqo2sWio61bH
        8GRfxFM=
        -----END CERTIFICATE-----
        """

    private func chain() throws -> [Certificate] { try Certificate.certificates(pem: Array(Self.text.utf8)) }

    @Test("a root with a DSA key ends no chain, whether it is sent or not, T-TLS-53")
    func dsaRoot() throws {
        let chain = try chain()
        let root = chain[1]

        for served in [chain, [chain[0]]] {
            let evaluation = try judge(served, certificates: [root])
            #expect(evaluation.failure?.reason == .weakKey && !evaluation.isTrusted)
            #expect(evaluation.failure?.certificate == root && evaluation.failure?.depth == 1)
            #expect(evaluation.failure?.message.contains("\"CN=DSA Root\" is of the kind DSA") == true)
            #expect(evaluation.verifiedChain == [chain[0]])
        }
    }

    @Test("without a name, and as an anchor of its own, it is refused too, T-TLS-53")
    func otherPolicies() throws {
        let chain = try chain()
        let store = try TrustStore([chain[1]])

        let basic = ChainEvaluator.evaluate(served: [chain[0]], policy: .basicX509, store: store, at: now)
        let alone = try judge([chain[0]], certificates: [chain[0]], partial: true)

        #expect(basic.failure?.reason == .weakKey)
        // What ends below the DSA key does not need it.
        #expect(alone.isTrusted, "\(alone)")
    }

    @Test("a DSA key proves nothing of a chain that is not trusted, T-TLS-53")
    func unproven() throws {
        let chain = try chain()

        let evaluation = try judge([chain[0]], for: "good.test", certificates: [chain[1]], at: 0)

        #expect(!evaluation.isTrusted && evaluation.verifiedChain == [chain[0]])
    }
}
