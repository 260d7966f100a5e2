internal import CAFOpenSSL

/// Why a secured connection could not be made, or broke.
package struct TLSFailure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// No version in common.
        case version
        /// No cipher suite in common.
        case cipher
        /// A protocol was chosen that we did not offer.
        case alpn
        /// The peer asked to negotiate anew.
        case renegotiation
        /// Messages without end that carry no data.
        case flood
        /// What arrived is no TLS.
        case notTLS
        /// The peer said why, by number.
        case alert(UInt8)
        /// The peer went away in the middle of the handshake.
        case ended
        /// The peer's certificates were not accepted. The client that judged them knows why.
        case refused
        /// The peer broke the protocol in another way.
        case violation
        /// OpenSSL could not do what we asked: out of memory, or a bad setting.
        case local
    }

    package let kind: Kind
    /// What OpenSSL says, for people.
    package let detail: String

    package init(_ kind: Kind, detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// What the calling thread's error queue holds, which is empty afterwards.
    static func taken(alert: Int32, otherwise kind: Kind) -> TLSFailure {
        let concernsALPN = caf_error_concerns_alpn() == 1
        let error = caf_take_error()
        if concernsALPN { return TLSFailure(.alpn, detail: "the server chose a protocol that was not offered") }
        if alert >= 0 { return TLSFailure(.alert(UInt8(truncatingIfNeeded: alert)), detail: alertName(alert)) }
        guard error != 0 else { return TLSFailure(kind, detail: "no further explanation") }
        let detail = text { caf_error_text(error, $0, $1) }
        guard caf_error_library(error) == ERR_LIB_SSL else { return TLSFailure(kind, detail: detail) }
        return TLSFailure(classify(caf_error_reason(error)) ?? kind, detail: detail)
    }

    package static func alertName(_ alert: Int32) -> String { text { caf_alert_name(alert, $0, $1) } }

    private static func classify(_ reason: Int32) -> Kind? {
        switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_UNSUPPORTED_SSL_VERSION,
            SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_VERSION_TOO_LOW, SSL_R_INAPPROPRIATE_FALLBACK:
            .version
        case SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_UNKNOWN_CIPHER_RETURNED, SSL_R_WRONG_CIPHER_RETURNED,
            SSL_R_DH_KEY_TOO_SMALL, SSL_R_BAD_CIPHER, SSL_R_NO_SHARED_CIPHER:
            .cipher
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_SSL_VERSION,
            SSL_R_PACKET_LENGTH_TOO_LONG:
            .notTLS
        // Too many empty ones in a row, that is.
        case SSL_R_RECORD_TOO_SMALL, SSL_R_TOO_MANY_WARN_ALERTS, SSL_R_TOO_MANY_KEY_UPDATES: .flood
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .ended
        default: nil
        }
    }

    private static func text(_ copy: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let count = copy(base, buffer.count)
            return String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
        }
    }
}
