import AFTransport
package import AFWire
import Foundation

extension HeaderDefaults {
    /// For a session without additional headers.
    package static let standard = HeaderDefaults(additionalHeaders: [:])

    /// With `User-Agent` made of the name of this program, and `Accept-Encoding` of what is understood.
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
    static let userAgent = UserAgent.product(programName: ProcessInfo.processInfo.processName)
}
