import AFLoop
import Foundation

typealias DownloadCompletion = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

// Unchecked as its superclass.
/// A task whose response body goes to a file.
///
/// The file is made in the session's folder for temporary files, for your user alone, and is yours until the
/// callback that names it has returned; move it to keep it. A file that is not moved, that is not complete, or that
/// nobody asked for is removed. Whatever the status of the response, its body is what is stored.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// A task that loads `request` as a whole.
    init(_ request: URLRequest, _ identifier: Int, in session: URLSession, _ receiver: DownloadConsumer.Receiver) {
        super.init(
            request,
            identifier,
            in: session,
            consumer: DownloadConsumer(receiver),
            receiver.completionWithoutFile
        )
    }
}

extension DownloadConsumer.Receiver {
    /// For errors that are reported where there is no loop.
    var completionWithoutFile: DataCompletion? {
        switch self {
        case .delegate: nil
        case .handler(let handler), .waiter(let handler): { _, response, error in handler(nil, response, error) }
        }
    }
}
