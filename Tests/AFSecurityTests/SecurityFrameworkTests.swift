import AFNetworkingTesting
import AFSecurity
import AFTLS
import AFURLSession
import Dispatch
import Foundation
import Testing

/// The functions of the Security framework, against certificates of our own.
@Suite struct SecurityFrameworkTests {
    private let root: CertificateAuthority
    private let middle: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        root = try CertificateAuthority("Root")
        middle = try root.makeIntermediate("Intermediate")
        site = try middle.issue(for: "good.test")
    }

    private func trust(_ anchors: Certificate..., host: String = "good.test") -> SecTrust {
        ServerTrust(servedChain: site.chain, host: host, anchors: .certificates(anchors))
    }

    private func error(_ trust: SecTrust) -> CFError? {
        var error: CFError?
        return SecTrustEvaluateWithError(trust, &error) ? nil : error
    }

    // MARK: - Anchors

    @Test func `anchors replace the session's, or are added to them`() throws {
        let other = try CertificateAuthority().certificate
        let trust = trust(root.certificate)

        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificates(trust, [other] as CFArray) == errSecSuccess)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificates(trust, [] as CFArray) == errSecSuccess)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetAnchorCertificates(trust, ["text"] as CFArray) == errSecParam)
    }

    @Test func `without anchors no server is trusted`() {
        let trust = trust(root.certificate)

        SecTrustSetAnchorCertificatesOnly(trust, true)

        #expect(!SecTrustEvaluateWithError(trust, nil))
    }

    @Test func `an intermediate certificate can be an anchor`() {
        let trust = trust()

        SecTrustSetAnchorCertificates(trust, [middle.certificate])

        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == site.chain)
    }

    // MARK: - Policies

    @Test func `all policies must be met`() {
        let trust = trust(root.certificate, host: "other.test")
        let (good, other) = (SecPolicyCreateSSL(true, "good.test"), SecPolicyCreateSSL(true, "other.test" as CFString))

        #expect(error(trust)?.code == Int(errSecHostNameMismatch))
        #expect(SecTrustSetPolicies(trust, good) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetPolicies(trust, [good, SecPolicyCreateBasicX509()] as CFArray) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustSetPolicies(trust, [good, other] as CFArray) == errSecSuccess)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        for policy in [SecPolicyCreateSSL(true, nil), SecPolicyCreateSSL(false, nil), SecPolicyCreateBasicX509()] {
            SecTrustSetPolicies(trust, policy)
            #expect(SecTrustEvaluateWithError(trust, nil))
        }
        for name in ["", "good.test\0", "*.test", ".good.test"] {
            SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, name))
            #expect(error(trust)?.code == Int(errSecHostNameMismatch), "\(name.debugDescription)")
        }
        #expect(SecTrustSetPolicies(trust, [] as CFArray) == errSecParam)
        #expect(SecTrustSetPolicies(trust, "text") == errSecParam)
    }

    @Test
    func `T-TLS-58 a policy for revocation accepts without an answer, and refuses where one is required`()
        throws
    {
        let trust = trust(root.certificate)
        let ssl = SecPolicyCreateSSL(true, "good.test")
        #expect(SecPolicyCreateRevocation(0) == nil)
        let methods = [
            kSecRevocationOCSPMethod, kSecRevocationCRLMethod, kSecRevocationNetworkAccessDisabled,
            kSecRevocationUseAnyAvailableMethod | kSecRevocationPreferCRL,
        ]
        for flags in methods + [0] {
            let required = flags | kSecRevocationRequirePositiveResponse
            let strict = try #require(SecPolicyCreateRevocation(required))
            for policies in [[strict], [ssl, strict], [strict, ssl]] {
                SecTrustSetPolicies(trust, policies as CFArray)
                let refusal = try #require(error(trust))
                #expect(refusal.code == Int(errSecIncompleteCertRevocationCheck))
                #expect(refusal.localizedDescription.contains("kSecRevocationRequirePositiveResponse"))
            }
            guard let lenient = SecPolicyCreateRevocation(flags) else { continue }
            for policies in [[lenient], [ssl, lenient], [lenient, ssl]] {
                SecTrustSetPolicies(trust, policies as CFArray)
                #expect(SecTrustEvaluateWithError(trust, nil))
            }
        }
    }

    @Test func `a policy for revocation lets no chain pass that others refuse`() throws {
        let lenient = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        let (stranger, other) = (trust(), trust(root.certificate, host: "other.test"))

        SecTrustSetPolicies(stranger, lenient)
        #expect(error(stranger)?.code == Int(errSecNotTrusted))
        SecTrustSetPolicies(other, [SecPolicyCreateSSL(true, "other.test"), lenient] as CFArray)
        #expect(error(other)?.code == Int(errSecHostNameMismatch))
        SecTrustSetPolicies(other, lenient)
        SecTrustSetVerifyDate(other, Date().addingTimeInterval(365 * 86_400) as CFDate)
        #expect(error(other)?.code == Int(errSecCertificateExpired))
    }

    @Test func `a moment can be chosen`() {
        let trust = trust(root.certificate)

        SecTrustSetVerifyDate(trust, Date().addingTimeInterval(365 * 86_400) as CFDate)
        #expect(error(trust)?.code == Int(errSecCertificateExpired))
        SecTrustSetVerifyDate(trust, Date().addingTimeInterval(-365 * 86_400))
        #expect(error(trust)?.code == Int(errSecCertificateNotValidYet))
        #expect(SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: .infinity)) == errSecParam)
    }

    // MARK: - Results

    @Test func `the last result is kept until something changes`() throws {
        let trust = trust(root.certificate)
        var result = SecTrustResultType.otherError
        func last() -> SecTrustResultType {
            SecTrustGetTrustResult(trust, &result)
            return result
        }

        #expect(last() == .invalid)
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(last() == .unspecified)
        SecTrustSetAnchorCertificates(trust, [])
        #expect(last() == .invalid)
        SecTrustEvaluate(trust, &result)
        #expect(result == .recoverableTrustFailure)
        let forged = try middle.issue(for: "good.test") { $0.breaksSignature = true }
        let forgery = ServerTrust(servedChain: forged.chain, host: "good.test", anchors: trust.anchors)
        SecTrustEvaluate(forgery, &result)
        #expect(result == .fatalTrustFailure)
    }

    @Test func `an error says what is wrong`() throws {
        let error = try #require(self.error(trust()))

        #expect(error.domain == NSOSStatusErrorDomain && error.code == Int(errSecNotTrusted))
        #expect(error.localizedDescription.contains("not among the trusted authorities"))
        #expect(error.userInfo[NSUnderlyingErrorKey] is TrustFailure)
    }

    @Test func `the answer can come on a queue`() async {
        for (trust, expected) in [(trust(root.certificate), true), (trust(), false)] {
            let answer = await withCheckedContinuation { continuation in
                SecTrustEvaluateAsyncWithError(trust, DispatchQueue(label: "answers")) { _, isTrusted, error in
                    continuation.resume(returning: isTrusted && error == nil)
                }
            }
            #expect(answer == expected)
        }
    }

    @Test func `settings are shared by copies, and change no value`() {
        let trust = trust()
        let copy = trust
        let same = self.trust()

        SecTrustSetAnchorCertificates(trust, [root.certificate])

        #expect(SecTrustEvaluateWithError(copy, nil))
        #expect(!SecTrustEvaluateWithError(same, nil) && !trust.evaluation.isTrusted)
        #expect(trust == same)
    }

    // MARK: - Certificates and keys

    @Test("of a chain that is not trusted only proven certificates are shown, T-TLS-15")
    func unproven() throws {
        let appended = try CertificateAuthority().certificate
        let trust = ServerTrust(
            servedChain: [site.certificate, appended],
            host: "good.test",
            anchors: .certificates([appended])
        )

        #expect(SecTrustGetCertificateCount(trust) == 1)
        #expect(SecTrustGetCertificateAtIndex(trust, 0) == site.certificate)
        #expect(SecTrustGetCertificateAtIndex(trust, 1) == nil && SecTrustGetCertificateAtIndex(trust, -1) == nil)
        let none = ServerTrust(servedChain: [], host: "good.test", anchors: .certificates([]))
        #expect(SecTrustCopyCertificateChain(none) == nil && SecTrustCopyKey(none) == nil)
    }

    @Test func `a trust can be made of certificates`() throws {
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, "good.test" as CFString)

        #expect(SecTrustCreateWithCertificates(site.chain as CFArray, policy, &trust) == errSecSuccess)
        let made = try #require(trust)
        #expect(!SecTrustEvaluateWithError(made, nil))
        SecTrustSetAnchorCertificates(made, [root.certificate])
        #expect(SecTrustEvaluateWithError(made, nil))
        #expect(SecTrustCopyKey(made) == SecCertificateCopyKey(site.certificate))
        #expect(SecTrustCopyPublicKey(made) == SecTrustCopyKey(made))
        #expect(SecTrustCreateWithCertificates(site.certificate, nil, &trust) == errSecSuccess)
        #expect(SecTrustCreateWithCertificates([] as CFArray, nil, &trust) == errSecParam)
        #expect(SecTrustCreateWithCertificates(site.chain, "text", &trust) == errSecParam)
    }

    @Test func `certificates come from bytes and give them back`() throws {
        let data = Data(site.der)

        let certificate = try #require(SecCertificateCreateWithData(kCFAllocatorDefault, data as CFData))

        #expect(SecCertificateCopyData(certificate) as Data == data)
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "good.test")
        #expect(SecCertificateCreateWithData(nil, data.dropLast() as CFData) == nil)
        #expect(SecCertificateCreateWithData(nil, Data()) == nil)
    }

    @Test(arguments: [.rsa, .p256, .p384, .ed25519] as [CertificateKey.Kind])
    func `the bytes of a key are the end of its SubjectPublicKeyInfo`(kind: CertificateKey.Kind) throws {
        let certificate = try root.issue(for: "good.test", kind: kind).certificate
        let key = try #require(SecCertificateCopyKey(certificate))

        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
        let attributes = try #require(SecKeyCopyAttributes(key))

        #expect(certificate.publicKeyBytes.suffix(bytes.count) == Array(bytes)[...])
        let expected: (count: ClosedRange<Int>, type: String?, bits: Int) =
            switch kind {
            case .rsa: (266...272, kSecAttrKeyTypeRSA, 2048)
            case .p256: (65...65, kSecAttrKeyTypeECSECPrimeRandom, 256)
            case .p384: (97...97, kSecAttrKeyTypeEC, 384)
            default: (32...32, nil, 256)
            }
        #expect(expected.count.contains(bytes.count))
        #expect(attributes[kSecAttrKeyType] as? String == expected.type)
        #expect(attributes[kSecAttrKeySizeInBits] as? Int == expected.bits)
        #expect(SecKeyGetBlockSize(key) == (expected.bits + 7) / 8)
        #expect(SecCertificateCopyKey(certificate) == key)
    }
}
