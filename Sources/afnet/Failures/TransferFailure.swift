import AFURLSession
import Foundation
import Glibc

/// Why a URL was not loaded: the message and the exit code.
struct TransferFailure: Error {
    let code: ExitCode
    var message: String
    /// Details, line by line: the addresses that were tried, the certificates that the server sent.
    private(set) var details: [String] = []
    /// The file that keeps the bytes that arrived.
    var keptIn: String?
    /// Every address refused the connection.
    private(set) var isRefused = false

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter hasResponse: Whether a byte of the response had arrived.
    init(_ error: any Error, hasResponse: Bool) {
        let (failure, url) = ((error as? URLError)?.loadFailure, (error as? URLError)?.failingURL)
        let code = failure?.row(hasResponse: hasResponse).code ?? .otherProtocolError
        // The library, like Foundation, reports a URL without a scheme as an unsupported one.
        self.code = code == .unsupported && url?.scheme == nil ? .malformedURL : code
        message = failure.map(FailureText.text) ?? error.localizedDescription
        guard let failure else { return }
        isRefused = !failure.attempts.isEmpty && failure.attempts.allSatisfy { $0.errno == ECONNREFUSED }
        details = failure.description.split(separator: "\n").dropFirst().map(String.init)
    }

    init(_ error: ArgumentError) {
        self.init(error.code, error.message)
    }
}

/// Why a command line was refused. Nothing was sent.
package struct ArgumentError: Error, Equatable {
    package let code: ExitCode
    package let message: String

    static func usage(_ message: String) -> ArgumentError { ArgumentError(code: .usage, message: message) }
    static func badArgument(_ message: String) -> ArgumentError { ArgumentError(code: .badArgument, message: message) }
}

extension Descriptor {
    /// Writes the output of a command.
    static func show(_ text: String) throws(TransferFailure) {
        do throws(SystemFailure) {
            try standardOutput.write(Data(text.utf8))
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
    }
}

extension Console {
    /// - Parameter isVerbose: Whether to add the details.
    func report(_ failure: TransferFailure, isVerbose: Bool) {
        report(failure.message)
        guard isVerbose else { return }
        for line in failure.details { say("* \(line)") }
    }
}
