import AFSecurity
import AFURLSession
import Foundation

// Delegates as they are written for Apple's platforms, where AFSecurity is Security and AFURLSession is Foundation.
// Only the imports differ.

/// Compares the server's certificate with the one that came with the app.
final class CertificatePinningDelegate: NSObject, URLSessionDelegate {
    private let pinnedCertificate: Data

    init(pinnedCertificate: Data) {
        self.pinnedCertificate = pinnedCertificate
        super.init()
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust
        else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        let policy = SecPolicyCreateSSL(true, challenge.protectionSpace.host as CFString)
        SecTrustSetPolicies(serverTrust, policy)

        var error: CFError?
        guard SecTrustEvaluateWithError(serverTrust, &error) else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        guard let serverCertificate = SecTrustGetCertificateAtIndex(serverTrust, 0) else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        let serverCertificateData = SecCertificateCopyData(serverCertificate) as Data
        if serverCertificateData == pinnedCertificate {
            completionHandler(.useCredential, URLCredential(trust: serverTrust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}

/// Trusts an authority of its own, and compares the keys of the chain with one it knows.
final class PublicKeyPinningDelegate: NSObject, URLSessionDelegate {
    private let rootCertificateData: Data
    private let pinnedKeyData: Data

    init(rootCertificateData: Data, pinnedKeyData: Data) {
        self.rootCertificateData = rootCertificateData
        self.pinnedKeyData = pinnedKeyData
        super.init()
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust,
            let root = SecCertificateCreateWithData(nil, rootCertificateData as CFData)
        else {
            return completionHandler(.performDefaultHandling, nil)
        }
        SecTrustSetAnchorCertificates(trust, [root] as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)

        guard SecTrustEvaluateWithError(trust, nil),
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        for certificate in chain {
            guard let key = SecCertificateCopyKey(certificate) else { continue }
            var error: Unmanaged<CFError>?
            guard let keyData = SecKeyCopyExternalRepresentation(key, &error) as Data? else { continue }
            if keyData == pinnedKeyData {
                return completionHandler(.useCredential, URLCredential(trust: trust))
            }
        }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}

/// Compares the SHA-256 of the SubjectPublicKeyInfo, rebuilt from the header for the kind of key.
final class HashPinningDelegate: NSObject, URLSessionDelegate {
    private static let rsa2048Header: [UInt8] = [
        0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
        0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00,
    ]
    private static let secp256r1Header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02,
        0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03,
        0x42, 0x00,
    ]

    private let pinnedHashes: Set<String>

    init(pinnedHashes: Set<String>) {
        self.pinnedHashes = pinnedHashes
        super.init()
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let serverTrust = challenge.protectionSpace.serverTrust else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        var result = SecTrustResultType.invalid
        let status = SecTrustEvaluate(serverTrust, &result)
        guard status == errSecSuccess, result == .unspecified || result == .proceed else {
            completionHandler(.cancelAuthenticationChallenge, nil)
            return
        }
        for index in 0..<SecTrustGetCertificateCount(serverTrust) {
            guard let certificate = SecTrustGetCertificateAtIndex(serverTrust, index),
                let key = SecCertificateCopyKey(certificate),
                let hash = Self.hash(of: key)
            else { continue }
            if pinnedHashes.contains(hash) {
                completionHandler(.useCredential, URLCredential(trust: serverTrust))
                return
            }
        }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    private static func hash(of key: SecKey) -> String? {
        guard let attributes = SecKeyCopyAttributes(key),
            let type = attributes[kSecAttrKeyType] as? String,
            let size = attributes[kSecAttrKeySizeInBits] as? Int,
            let keyData = SecKeyCopyExternalRepresentation(key, nil)
        else { return nil }
        var bytes: [UInt8]
        if type == kSecAttrKeyTypeRSA as String, size == 2048 {
            bytes = rsa2048Header
        } else if type == kSecAttrKeyTypeECSECPrimeRandom as String, size == 256 {
            bytes = secp256r1Header
        } else {
            return nil
        }
        bytes += keyData as Data
        return sha256(Data(bytes)).base64EncodedString()
    }
}
