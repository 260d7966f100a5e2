import AFURLSession

extension ExitCode {
    /// - Parameter hasResponse: a byte of the response had arrived.
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
            case .malformed: Self.malformed(failure.detail)
            case .limit: failure.phase == .receivingBody ? .cannotReceive : .headNotUnderstood
            default: .otherProtocolError
            }
    }

    private static func request(_ detail: LoadFailure.Detail?) -> ExitCode {
        switch detail {
        case .scheme: .unsupported
        case .header, .method, .size: .badArgument
        default: .malformedURL
        }
    }

    private static func lost(_ failure: LoadFailure, _ hasResponse: Bool) -> ExitCode {
        switch failure.detail {
        case .truncated: .truncated
        case .head where !hasResponse: .nothingReceived
        default: failure.phase == .sending ? .cannotSend : .cannotReceive
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
