import AFURLSession
import Foundation
import Glibc

/// Why a URL was not loaded: what to say, and what to exit with.
struct TransferFailure: Error {
    let code: ExitCode
    var message: String
    /// What else is known, line by line: the addresses that were tried, what the server showed.
    private(set) var details: [String] = []
    /// The file with what arrived.
    var keptIn: String?
    /// Nobody listens at any of the addresses.
    private(set) var isRefused = false

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter hasResponse: a byte of the response had arrived.
    init(_ error: any Error, hasResponse: Bool) {
        let (failure, url) = ((error as? URLError)?.loadFailure, (error as? URLError)?.failingURL)
        let code = ExitCode(failure, hasResponse: hasResponse)
        // For the library a URL without a scheme is of one that it does not load, as it is for Foundation.
        self.code = code == .unsupported && url?.scheme == nil ? .malformedURL : code
        message = failure?.message ?? error.localizedDescription
        guard let failure else { return }
        message += Self.advice(failure)
        isRefused = !failure.attempts.isEmpty && failure.attempts.allSatisfy { $0.errno == ECONNREFUSED }
        details = failure.description.split(separator: "\n").dropFirst().map(String.init)
    }

    /// The library speaks of its settings; these are the options for them.
    private static func advice(_ failure: LoadFailure) -> String {
        switch (failure.reason, failure.detail) {
        case (.trust, .unknownRoot), (.trust, .selfSigned): " (--cacert PATH)"
        case (.clientCertificate, .required): " (--cert PATH --key PATH)"
        default: ""
        }
    }
}

/// Why a command line was refused, before anything was sent.
package struct ArgumentError: Error, Equatable {
    package let code: ExitCode
    package let message: String

    static func usage(_ message: String) -> ArgumentError { ArgumentError(code: .usage, message: message) }
    static func badArgument(_ message: String) -> ArgumentError { ArgumentError(code: .badArgument, message: message) }
}

extension Console {
    /// - Parameter isVerbose: with everything that is known about it.
    func report(_ failure: TransferFailure, isVerbose: Bool) {
        report(failure.message)
        guard isVerbose else { return }
        for line in failure.details { say("* \(line)") }
    }
}
