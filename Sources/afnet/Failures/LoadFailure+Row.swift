import AFURLSession
import Glibc

extension LoadFailure {
    /// What the command makes of a failure: its exit code, and what to change on the command line.
    ///
    /// - Parameter hasResponse: Whether a byte of the response had arrived.
    func row(hasResponse: Bool = false) -> (code: ExitCode, advice: String?) {
        let (code, advice) = ownRow(hasResponse)
        guard errno != EMFILE else {
            return (code, "Allow more open files (ulimit -n), or load fewer URLs at a time (--parallel-max).")
        }
        return (code, advice)
    }

    private func ownRow(_ hasResponse: Bool) -> (ExitCode, String?) {
        switch (reason, detail) {
        case (.request, .scheme):
            (.unsupported, occursWithPins ? "Use https, or leave out the pin." : usualAdvice)
        case (.request, .header), (.request, .method), (.request, .size), (.request, .proxy):
            (.badArgument, usualAdvice)
        case (.request, _): (.malformedURL, usualAdvice)
        case (.resources, .nameNotFound), (.resources, .nameLookup): (.nameNotResolved, usualAdvice)
        case (.resources, .address): (.cannotConnect, nil)
        case (.resources, _): (.cannotConnect, usualAdvice)
        case (.timeout, .idle), (.timeout, .resource): (.timedOut, "Give it longer with --max-time.")
        case (.timeout, .connect), (.timeout, .handshake): (.timedOut, "Give it longer with --connect-timeout.")
        case (.timeout, _): (.timedOut, usualAdvice)
        case (.lost, .truncated): (.truncated, usualAdvice)
        case (.lost, .head) where phase != .tls && !hasResponse: (.nothingReceived, usualAdvice)
        // TLS may also fail after the handshake.
        case (.lost, _), (.tls, _): (broken, usualAdvice)
        case (.trust, .unknownRoot), (.trust, .selfSigned): (.serverNotTrusted, with("--cacert PATH"))
        case (.trust, .anchors): (.authoritiesUnusable, usualAdvice)
        case (.trust, .policy) where security?.rule.flatMap(PinRule.init) != nil: (.pinMismatch, usualAdvice)
        case (.trust, _): (.serverNotTrusted, usualAdvice)
        case (.clientCertificate, .required): (.clientCertificate, with("--cert PATH --key PATH"))
        case (.clientCertificate, _): (.clientCertificate, usualAdvice)
        case (.malformed, .status): (.unsupported, usualAdvice)
        case (.malformed, .header): (.headNotUnderstood, usualAdvice)
        case (.malformed, _): (.cannotReceive, usualAdvice)
        case (.response, .status): (.statusRefused, "Look at it with afnet -v.")
        case (.response, .upgrade): (.statusRefused, usualAdvice)
        case (.response, nil): (.unsupported, "Look at it with afnet -v.")
        case (.response, _): (.unsupported, usualAdvice)
        case (.decoding, .bomb): (.contentNotDecoded, "Leave out --compressed to get it as it is.")
        case (.decoding, _): (.contentNotDecoded, usualAdvice)
        // What SOCKS replies is less than any status of HTTP, and it wants credentials without a reply.
        case (.proxy, .refused): (proxyReply ?? 100 < 100 ? .refusedByProxy : .cannotReceive, usualAdvice)
        case (.proxy, .credentials):
            (proxyReply == nil ? .refusedByProxy : .cannotReceive, "Give user and password with --proxy-user.")
        case (.proxy, .nameNotFound), (.proxy, .nameLookup): (.proxyNotResolved, usualAdvice)
        case (.proxy, .connect): (.cannotConnect, usualAdvice)
        case (.proxy, .tls): (.handshakeFailed, usualAdvice)
        case (.proxy, _): (.cannotReceive, usualAdvice)
        case (.redirect, nil): (.tooManyRedirects, "If it is no circle, raise --max-redirs.")
        case (.redirect, .location): (.malformedURL, usualAdvice)
        case (.redirect, .scheme): (.unsupported, "Leave out --location to see the response.")
        case (.redirect, .body): (.bodyCannotBeSentAgain, "Send text or a file: standard input is read once.")
        case (.body, .exhausted): (.bodyCannotBeSentAgain, usualAdvice)
        case (.body, _), (.file, _): (.cannotRead, usualAdvice)
        case (.limit, _): (phase == .receivingBody ? .cannotReceive : .headNotUnderstood, usualAdvice)
        default: (.otherProtocolError, usualAdvice)
        }
    }

    /// The connection broke.
    private var broken: ExitCode {
        switch phase {
        case .tls: .handshakeFailed
        case .sending: .cannotSend
        default: .cannotReceive
        }
    }

    /// That of the library, unless it names settings of a program.
    private var usualAdvice: String? { advice.flatMap { FailureText.namesDeclarations($0) ? nil : $0 } }

    /// The same, with the options that help.
    private func with(_ options: String) -> String {
        [usualAdvice, "(\(options))"].compactMap(\.self).joined(separator: " ")
    }

    private var occursWithPins: Bool { failureReason?.contains("evaluator pins") == true }
}
