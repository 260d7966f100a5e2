package import AFURLSession
import Foundation
import Glibc

/// The message of a failure, with what to change on the command line in the place of the library's settings.
package enum FailureText {
    package static func text(of failure: LoadFailure) -> String {
        let occurrence = words.reduce(failure.failureReason ?? failure.message) { text, word in
            text.replacing(word.library, with: word.command)
        }
        return [occurrence, advice(failure)].compactMap(\.self).joined(separator: " ")
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

    private static func advice(_ failure: LoadFailure) -> String? {
        if failure.errno == EMFILE {
            return "Allow more open files (ulimit -n), or load fewer URLs at a time (--parallel-max)."
        }
        return switch (failure.reason, failure.detail) {
        case (.timeout, .idle), (.timeout, .resource): "Give it longer with --max-time."
        case (.timeout, .connect), (.timeout, .handshake): "Give it longer with --connect-timeout."
        case (.resources, .address): nil
        case (.redirect, nil): "If it is no circle, raise --max-redirs."
        case (.redirect, .scheme): "Leave out --location to see the response."
        case (.redirect, .body): "Send text or a file: standard input is read once."
        case (.request, .scheme) where failure.occursWithPins: "Use https, or leave out the pin."
        case (.decoding, .bomb): "Leave out --compressed to get it as it is."
        case (.response, .status): "Look at it with afnet -v."
        case (.response, nil): "Look at it with afnet -v."
        case (.proxy, .credentials): "Give user and password with --proxy-user."
        default: failure.advice.flatMap { namesDeclarations($0) ? nil : $0 }
        }
    }

    /// Whether a text has names of a program in it: with a capital inside, or with parentheses right behind them.
    static func namesDeclarations(_ text: String) -> Bool {
        let text = ["OpenSSL", "WebSocket"].reduce(text) { $0.replacing($1, with: "") }
        return text.contains(/[a-z][A-Z]|[a-z]\(/)
    }
}

extension LoadFailure {
    fileprivate var occursWithPins: Bool { failureReason?.contains("evaluator pins") == true }
}
