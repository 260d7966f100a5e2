internal import CAFOpenSSL
public import Foundation

/// Why a certificate, a key or a file of them could not be made.
public struct CertificateMakingError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What was being made.
    public let action: String
    /// What went wrong.
    public let reason: String

    /// The error in one sentence.
    public var description: String { "\(action) failed: \(reason)" }

    /// The description.
    public var errorDescription: String? { description }

    init(_ action: String, because reason: String) {
        self.action = action
        self.reason = reason
    }

    /// Takes the reason from OpenSSL's error queue of this thread.
    init(_ action: String) {
        self.init(action, because: OpenSSLErrors.take())
    }
}

/// The error queue that OpenSSL keeps for each thread.
enum OpenSSLErrors {
    static func clear() {
        ERR_clear_error()
    }

    /// The text of the oldest error; empties the queue.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "OpenSSL gave no reason" }
        guard let text = ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
        return String(cString: text)
    }
}
