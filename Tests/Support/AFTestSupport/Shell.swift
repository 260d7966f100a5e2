import AFFaults
package import Foundation

/// Commands as a shell reads them.
package enum Shell {
    /// What a shell makes of a command: what it reads from standard input, and the arguments of `curl`.
    package static func parsed(_ command: String) throws -> (input: Data, words: [String]) {
        let read = "curl() { if [ \"$AFINPUT\" ]; then cat; printf '\\0'; fi; printf '%s\\0' \"$@\"; }\n"
        let hasPipe = command.hasPrefix("printf ")
        let output = try run(read + command, environment: hasPipe ? ["AFINPUT": "1"] : [:])
        var parts = output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        // Only in tests whose input has no NUL.
        let input = hasPipe ? Data(parts.removeFirst()) : Data()
        return (input, parts.map { String(decoding: $0, as: UTF8.self) })
    }

    package static func run(_ script: String, environment: [String: String] = [:]) throws -> Data {
        let environment = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        let (status, output) = try ChildProcess.answer(
            of: "/bin/sh",
            ["-c", script],
            environment: environment,
            withErrors: false
        )
        try need(status == 0)
        return output
    }
}
