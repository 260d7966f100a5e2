/// Why a command line was refused, before anything was sent.
package struct ArgumentError: Error, Equatable {
    package let code: ExitCode
    package let message: String

    static func usage(_ message: String) -> ArgumentError { ArgumentError(code: .usage, message: message) }
    static func badArgument(_ message: String) -> ArgumentError { ArgumentError(code: .badArgument, message: message) }
}
