internal import CAFOpenSSL

/// What a handshake has led to.
///
/// OpenSSL has refused all that is refused here. It is looked at once more, in one place, after full and short
/// handshakes alike: no data pass unless all of it is right.
struct TLSAgreement {
    /// Nil if it is none that we speak.
    var version: TLSVersion?
    var hasCertificate: Bool
    var verifyResult: Int
    /// The client accepted the server's certificates, now or when the session began that is being resumed.
    var isJudged: Bool
    /// By ALPN; empty if the server did not choose.
    var chosenProtocol: [UInt8]

    /// Nil if the server did not choose, or chose what was not offered.
    var agreedProtocol: ApplicationProtocol? { ApplicationProtocol(chosenProtocol) }

    var failure: TLSFailure? {
        guard version != nil else { return TLSFailure(.version, detail: "a version we did not offer") }
        guard hasCertificate, verifyResult == Int(X509_V_OK) else {
            return TLSFailure(.refused, detail: "the server has no certificate that was accepted")
        }
        guard isJudged else { return TLSFailure(.refused, detail: "the client did not judge the server's certificate") }
        guard chosenProtocol.isEmpty || agreedProtocol != nil else {
            return TLSFailure(.alpn, detail: "the server chose a protocol that was not offered")
        }
        return nil
    }
}
