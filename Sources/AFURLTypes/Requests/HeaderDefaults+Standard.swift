import AFTransport
package import AFWire
import Foundation

extension HeaderDefaults {
    /// The defaults of a session without additional headers.
    package static let standard = HeaderDefaults(additionalHeaders: [:])

    /// Adds a `User-Agent` with the name of this program, and an `Accept-Encoding` with the codings that the session
    /// can decode.
    ///
    /// - Parameter decodes: False for no `Accept-Encoding`.
    package convenience init(additionalHeaders: [String: String], decodes: Bool = true) {
        self.init(
            additionalHeaders: additionalHeaders,
            userAgent: Self.userAgent,
            contentCodings: decodes ? ContentCoding.accepted : nil
        )
    }

    /// The name of this program.
    package static let userAgent = UserAgent.product(programName: ProcessInfo.processInfo.processName)
}
