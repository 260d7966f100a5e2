package import AFWire
import Foundation

extension HeaderDefaults {
    /// For a session without additional headers.
    package static let standard = HeaderDefaults(additionalHeaders: [:])

    /// With `User-Agent` made of the name of this program.
    package convenience init(additionalHeaders: [String: String]) {
        self.init(additionalHeaders: additionalHeaders, userAgent: Self.userAgent)
    }

    private static let userAgent = UserAgent.product(programName: ProcessInfo.processInfo.processName)
}
