import AFURLSession

/// The rule names with which afnet refuses a server that lacks a pin. No other evaluator uses these names.
enum PinRule: String {
    case key = "afnet --pin"
    case certificate = "afnet --pinned-cert"
    case policy = "afnet --policy"
}

extension ExitCode {
    /// - Parameter hasResponse: Whether a byte of the response had arrived.
    init(_ failure: LoadFailure?, hasResponse: Bool) {
        guard let failure else {
            self = .otherProtocolError
            return
        }
        self =
            switch failure.reason {
            case .request: Self.request(failure.detail)
            case .resources:
                failure.detail == .nameNotFound || failure.detail == .nameLookup ? .nameNotResolved : .cannotConnect
            case .timeout: .timedOut
            case .lost: Self.lost(failure, hasResponse)
            case .tls: Self.tls(failure.phase)
            case .trust: Self.trust(failure)
            case .clientCertificate: .clientCertificate
            case .malformed: Self.malformed(failure.detail)
            case .decoding: .contentNotDecoded
            case .proxy: Self.proxy(failure.detail)
            case .redirect: Self.redirect(failure.detail)
            case .body: failure.detail == .exhausted ? .bodyCannotBeSentAgain : .cannotRead
            case .file: .cannotRead
            case .limit: failure.phase == .receivingBody ? .cannotReceive : .headNotUnderstood
            default: .otherProtocolError
            }
    }

    private static func request(_ detail: LoadFailure.Detail?) -> ExitCode {
        switch detail {
        case .scheme: .unsupported
        case .header, .method, .size, .proxy: .badArgument
        default: .malformedURL
        }
    }

    private static func proxy(_ detail: LoadFailure.Detail?) -> ExitCode {
        switch detail {
        case .nameNotFound, .nameLookup: .proxyNotResolved
        case .connect: .cannotConnect
        case .tls: .handshakeFailed
        default: .cannotReceive
        }
    }

    private static func redirect(_ detail: LoadFailure.Detail?) -> ExitCode {
        switch detail {
        case nil: .tooManyRedirects
        case .location: .malformedURL
        case .scheme: .unsupported
        case .body: .bodyCannotBeSentAgain
        default: .otherProtocolError
        }
    }

    private static func lost(_ failure: LoadFailure, _ hasResponse: Bool) -> ExitCode {
        switch failure.detail {
        case .truncated: .truncated
        case _ where failure.phase == .tls: .handshakeFailed
        case .head where !hasResponse: .nothingReceived
        default: failure.phase == .sending ? .cannotSend : .cannotReceive
        }
    }

    /// TLS may also fail after the handshake.
    private static func tls(_ phase: LoadFailure.Phase) -> ExitCode {
        switch phase {
        case .tls: .handshakeFailed
        case .sending: .cannotSend
        default: .cannotReceive
        }
    }

    private static func trust(_ failure: LoadFailure) -> ExitCode {
        switch failure.detail {
        case .anchors: .authoritiesUnusable
        case .policy where failure.security?.rule.flatMap(PinRule.init) != nil: .pinMismatch
        default: .serverNotTrusted
        }
    }

    private static func malformed(_ detail: LoadFailure.Detail?) -> ExitCode {
        switch detail {
        case .status: .unsupported
        case .header: .headNotUnderstood
        default: .cannotReceive
        }
    }
}
