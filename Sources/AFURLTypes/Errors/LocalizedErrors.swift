import AFState
public import AFTLS
public import AFWire
public import Foundation
import Glibc

// Foundation returns `errorDescription` as `localizedDescription`. AFTLS and AFWire do not import Foundation, so their
// errors conform here, in the module through which programs meet them.

extension CertificateError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension ClientIdentityError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension HostPatternError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension PublicKeyPinError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension TrustAnchorsError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension TrustFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension CookieFileError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension PublicSuffixFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension StructuredFieldError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension String {
    /// Text of a peer for a message: printable ASCII, at most 256 bytes.
    package var asPeerText: String { PeerText.escaped(utf8) }
}

extension Sequence<UInt8> {
    /// The same for bytes.
    package var asPeerText: String { PeerText.escaped(self) }
}

/// The system's text for an error number.
package enum SystemErrorText {
    package static func of(_ errno: Int32) -> String {
        // glibc's strerror is safe on any thread since 2.32. Debian 12 has 2.36.
        guard let text = strerror(errno) else { return "errno \(errno)" }
        let words = String(decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
        return "\(words), errno \(errno)"
    }
}
