package import AFURLSession
import Foundation

/// The message of a failure, with what to change on the command line in the place of the library's settings.
package enum FailureText {
    package static func text(of failure: LoadFailure) -> String {
        let occurrence = words.reduce(failure.failureReason ?? failure.message) { text, word in
            text.replacing(word.library, with: word.command)
        }
        return [occurrence, failure.row().advice].compactMap(\.self).joined(separator: " ")
    }

    /// What the library says of its settings, and what of the command line that is.
    private static let words = [
        (
            library: "the session's addressFilter allows none of its addresses",
            command: "it has no address for --ipv4 or --ipv6"
        ),
        (library: "the session's evaluator pins", command: "a pin is given for"),
        (library: "tunnelFields cannot be used", command: "--proxy-header cannot be used"),
        (
            library:
                "unixDomainSocketPath must have 1 to 107 bytes and no NUL, and a place of hostOverrides no zone that this "
                + "machine does not have",
            command:
                "--unix-socket needs a path of 1 to 107 bytes, and --resolve and --connect-to no zone that this machine "
                + "does not have"
        ),
    ]

    /// Whether a text has names of a program in it: with a capital inside, or with parentheses right behind them.
    static func namesDeclarations(_ text: String) -> Bool {
        let text = ["OpenSSL", "WebSocket"].reduce(text) { $0.replacing($1, with: "") }
        return text.contains(/[a-z][A-Z]|[a-z]\(/)
    }
}
