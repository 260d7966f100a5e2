import AFURLSession
import Foundation

/// Why a URL was not loaded: what to say, and what to exit with.
struct TransferFailure: Error {
    let code: ExitCode
    var message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter hasResponse: a byte of the response had arrived.
    init(_ error: any Error, hasResponse: Bool) {
        let failure = (error as? URLError)?.loadFailure
        code = ExitCode(failure, hasResponse: hasResponse)
        message = failure?.message ?? error.localizedDescription
    }

    @MainActor static func cannotWrite(_ sink: BodySink, _ failure: SystemFailure) -> TransferFailure {
        TransferFailure(.cannotWrite, "cannot write \(sink.name): \(failure.text)")
    }
}
