import Foundation

/// What an exchange has come to.
enum ExchangeOutcome {
    /// A response of the network or of the cache.
    case response(PendingResponse)
    case failure(ExchangeFailure)
    /// A response of a source of the session.
    case foreignResponse(URLResponse, any TransferSubstitute)
    /// A class of the program sends the task to another request.
    case foreignRedirect(URLRequest, URLResponse, any TransferSubstitute)

    var response: URLResponse? {
        switch self {
        case .response(let pending): pending.response
        case .foreignResponse(let response, _), .foreignRedirect(_, let response, _): response
        case .failure: nil
        }
    }
}

/// Why an exchange has failed.
struct ExchangeFailure {
    let error: LoadError
    /// What the task would fail with.
    let reported: () -> any Error
}
