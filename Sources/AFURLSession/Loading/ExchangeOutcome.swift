import Foundation

/// What an exchange has come to.
enum ExchangeOutcome {
    /// A response of the network or of the cache.
    case response(PendingResponse)
    case failure(LoadError)
    /// A response of a source of the session.
    case foreignResponse(URLResponse, any TransferSubstitute)
    /// A class of the program sends the task to another request.
    case foreignRedirect(URLRequest, URLResponse, any TransferSubstitute)
}
