import AFWire
import Foundation

/// Where the body of a task comes from, as its owner said it.
enum TaskBody: Sendable {
    /// From the request.
    case request
    /// Memory, whatever the request has.
    case data(Data)
    case file(URL)

    /// The request in bytes. For a file, whose length nobody knows yet, it is frozen
    /// again when it is open; here only to find out what is wrong with the rest.
    func freeze(_ request: URLRequest, in session: URLSession) throws(RequestRejection) -> FrozenRequest {
        var request = request
        switch self {
        case .request: return try request.frozen(with: session.headers)
        case .data(let data): request.httpBody = data
        case .file: request.httpBody = nil
        }
        return try RequestFreezer.freeze(request, defaults: session.headers)
    }

    /// What is known about its length when the task is made.
    func expectedLength(of request: URLRequest) -> Int64 {
        switch self {
        case .request: Int64(request.httpBody?.count ?? 0)
        case .data(let data): Int64(data.count)
        case .file: NSURLSessionTransferSizeUnknown
        }
    }
}
