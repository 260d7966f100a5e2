import AFNetworking
import Foundation

// Code as it stands in apps that were written against AFNetworking 2, with operations.

class MagazineClient: AFHTTPRequestOperationManager, @unchecked Sendable {
    private(set) var running = 0
    private var observers: [NSObjectProtocol] = []

    static func client(for server: URL) -> MagazineClient {
        let client = MagazineClient(baseURL: server)
        client.requestSerializer = AFJSONRequestSerializer()
        client.requestSerializer.setValue("reader/1.4", forHTTPHeaderField: "User-Agent")
        client.responseSerializer = AFJSONResponseSerializer()
        client.operationQueue.maxConcurrentOperationCount = 2
        client.securityPolicy = AFSecurityPolicy.default()
        client.watchActivity()
        return client
    }

    deinit {
        observers.forEach(NotificationCenter.default.removeObserver(_:))
    }

    /// What an activity indicator does.
    private func watchActivity() {
        let center = NotificationCenter.default
        let names: [(Notification.Name, Int)] = [
            (.AFNetworkingOperationDidStart, 1), (.AFNetworkingOperationDidFinish, -1),
        ]
        for (name, change) in names {
            observers.append(
                center.addObserver(forName: name, object: nil, queue: .main) { [weak self] note in
                    guard let self = self, let operation = note.object as? AFHTTPRequestOperation else { return }
                    guard operation.request.url?.host == self.baseURL?.host,
                        operation.request.url?.port == self.baseURL?.port
                    else { return }
                    self.running += change
                }
            )
        }
    }

    @discardableResult
    func issues(of year: Int, completion: @escaping ([String]?, Error?) -> Void) -> AFHTTPRequestOperation? {
        return get(
            "issues",
            parameters: ["year": year],
            success: { operation, responseObject in
                completion(responseObject as? [String], nil)
            },
            failure: { operation, error in
                completion(nil, error)
            }
        )
    }

    func fetch(_ pages: [URL], progress: @escaping (UInt, UInt) -> Void, completion: @escaping ([Data]) -> Void) {
        let operations = pages.map { page -> AFHTTPRequestOperation in
            let operation = AFHTTPRequestOperation(request: URLRequest(url: page))
            operation.responseSerializer = AFHTTPResponseSerializer()
            operation.shouldUseCredentialStorage = false
            return operation
        }
        let batch = AFURLConnectionOperation.batch(
            ofRequestOperations: operations,
            progressBlock: { finished, total in
                progress(finished, total)
            },
            completionBlock: { operations in
                completion(operations.compactMap { ($0 as? AFHTTPRequestOperation)?.responseObject as? Data })
            }
        )
        operationQueue.addOperations(batch, waitUntilFinished: false)
    }
}

/// Saves one issue to a file, and can be told to wait.
class IssueDownload: NSObject {
    private let operation: AFHTTPRequestOperation
    private(set) var fraction = 0.0

    init(_ url: URL, to file: URL, completion: @escaping (Error?) -> Void) {
        operation = AFHTTPRequestOperation(request: URLRequest(url: url))
        super.init()
        operation.outputStream = OutputStream(toFileAtPath: file.path, append: false)
        operation.setDownloadProgressBlock { [weak self] bytesRead, totalBytesRead, totalBytesExpectedToRead in
            self?.fraction = Double(totalBytesRead) / Double(totalBytesExpectedToRead)
        }
        operation.setRedirectResponseBlock { connection, request, redirectResponse in
            return redirectResponse == nil ? request : nil
        }
        operation.setWillSendRequestForAuthenticationChallengeBlock { connection, challenge in
            challenge.sender?.cancel(challenge)
        }
        operation.setCompletionBlockWithSuccess(
            { operation, responseObject in
                completion(nil)
            },
            failure: { operation, error in
                completion(error)
            }
        )
    }

    func begin(in queue: OperationQueue) {
        queue.addOperation(operation)
    }

    func togglePause() {
        if operation.isPaused {
            operation.resume()
        } else {
            operation.pause()
        }
    }

    func cancel() {
        operation.cancel()
    }
}

/// An operation of one's own, by overriding.
class TaggedOperation: AFHTTPRequestOperation, @unchecked Sendable {
    override func connection(
        _ connection: NSURLConnection,
        willSend request: URLRequest,
        redirectResponse response: URLResponse?
    ) -> URLRequest? {
        var request = super.connection(connection, willSend: request, redirectResponse: response)
        request?.setValue("tagged", forHTTPHeaderField: "X-Tag")
        return request
    }
}
