import AFImages
import AFNetworking
import Foundation

// What the README and the tutorials of AFNetworking 2, 3 and 4 show, as it is written in Swift for Apple's platforms.

/// Tasks of 3.x and 4.x.
enum TaskSnippets {
    static func download(_ URL: URL, to folder: Foundation.URL, completion: @escaping (Foundation.URL?, Error?) -> Void)
    {
        let configuration = URLSessionConfiguration.default
        let manager = AFURLSessionManager(sessionConfiguration: configuration)
        let request = URLRequest(url: URL)

        let downloadTask = manager.downloadTask(
            with: request,
            progress: nil,
            destination: { targetPath, response in
                return folder.appendingPathComponent(response.suggestedFilename!)
            },
            completionHandler: { response, filePath, error in
                completion(filePath, error)
            }
        )
        downloadTask.resume()
    }

    static func upload(_ filePath: URL, to URL: URL, completion: @escaping (Any?, Error?) -> Void) {
        let manager = AFURLSessionManager(sessionConfiguration: .default)
        var request = URLRequest(url: URL)
        request.httpMethod = "POST"

        let uploadTask = manager.uploadTask(with: request, fromFile: filePath, progress: nil) {
            response,
            responseObject,
            error in
            if let error = error {
                completion(nil, error)
            } else {
                completion(responseObject, nil)
            }
        }
        uploadTask.resume()
    }

    static func multipart(
        _ filePath: URL,
        to urlString: String,
        progress: @escaping (Double) -> Void,
        completion: @escaping (Any?, Error?) -> Void
    ) {
        let request = AFHTTPRequestSerializer().multipartFormRequest(
            withMethod: "POST",
            urlString: urlString,
            parameters: nil,
            constructingBodyWith: { formData in
                do {
                    try formData.appendPart(
                        withFileURL: filePath,
                        name: "file",
                        fileName: "filename.jpg",
                        mimeType: "image/jpeg"
                    )
                } catch {
                    print(error)
                }
            },
            error: nil
        )

        let manager = AFURLSessionManager(sessionConfiguration: URLSessionConfiguration.default)
        let uploadTask = manager.uploadTask(
            withStreamedRequest: request as URLRequest,
            progress: { uploadProgress in
                DispatchQueue.main.async {
                    progress(uploadProgress.fractionCompleted)
                }
            },
            completionHandler: { response, responseObject, error in
                completion(responseObject, error)
            }
        )
        uploadTask.resume()
    }

    static func data(_ URL: URL, completion: @escaping (Int, Any?) -> Void) {
        let manager = AFURLSessionManager(sessionConfiguration: URLSessionConfiguration.default)
        let dataTask = manager.dataTask(with: URLRequest(url: URL), uploadProgress: nil, downloadProgress: nil) {
            response,
            responseObject,
            error in
            completion((response as? HTTPURLResponse)?.statusCode ?? 0, responseObject)
        }
        dataTask.resume()
    }

    static func invalidate(_ manager: AFURLSessionManager, completion: @escaping () -> Void) {
        manager.setSessionDidBecomeInvalidBlock { session, error in completion() }
        manager.invalidateSessionCancelingTasks(true, resetSession: true)
    }
}

/// Requests of all versions.
enum RequestSnippets {
    static let parameters: [String: Any] = ["foo": "bar", "baz": [1, 2, 3]]

    static func query(_ urlString: String) -> URLRequest {
        return AFHTTPRequestSerializer()
            .request(withMethod: "GET", urlString: urlString, parameters: parameters, error: nil) as URLRequest
    }

    static func form(_ urlString: String) -> URLRequest {
        var error: NSError?
        let request = AFHTTPRequestSerializer()
            .request(withMethod: "POST", urlString: urlString, parameters: parameters, error: &error)
        request.addValue("Bearer token", forHTTPHeaderField: "Authorization")
        if let error = error {
            print(error.localizedDescription)
        }
        return request as URLRequest
    }

    static func json(_ urlString: String) throws -> URLRequest {
        let serializer = AFJSONRequestSerializer(writingOptions: .sortedKeys)
        return try serializer.request(withMethod: "POST", urlString: urlString, parameters: parameters) as URLRequest
    }

    static func impossible() -> (URLRequest, NSError?) {
        var error: NSError?
        let request = AFJSONRequestSerializer()
            .request(withMethod: "POST", urlString: "http://a.test/", parameters: Date(), error: &error)
        return (request as URLRequest, error)
    }
}

/// Managers of 3.x and 4.x.
enum ManagerSnippets {
    static func get(_ url: String, completion: @escaping (Any?, Error?) -> Void) {
        let manager = AFHTTPSessionManager()
        manager.responseSerializer.acceptableContentTypes = ["application/json", "text/html", "text/plain"]
        manager.requestSerializer.timeoutInterval = 20

        let success: @Sendable (URLSessionDataTask, Any?) -> Void = { task, responseObject in
            completion(responseObject, nil)
        }
        let failure: @Sendable (URLSessionDataTask?, Error) -> Void = { task, error in
            completion(nil, error)
        }
        manager.get(url, parameters: nil, progress: nil, success: success, failure: failure)
    }

    static func post(_ url: String, completion: @escaping (String?) -> Void) {
        let manager = AFHTTPSessionManager(sessionConfiguration: URLSessionConfiguration.default)
        manager.responseSerializer.acceptableContentTypes?.insert("text/plain")
        manager.responseSerializer = AFHTTPResponseSerializer()
        manager.post(
            url,
            parameters: ["foo": "bar"],
            progress: nil,
            success: { (task: URLSessionDataTask!, responseObject: Any?) in
                completion(String(data: responseObject as! Data, encoding: .utf8))
            },
            failure: { (task: URLSessionDataTask?, error: Error) in
                completion(nil)
            }
        )
    }

    static func compound() -> AFHTTPResponseSerializer {
        let manager = AFHTTPSessionManager(baseURL: URL(string: "https://example.com/"))
        let serializer = AFCompoundResponseSerializer.compoundSerializer(withResponseSerializers: [
            AFJSONResponseSerializer(), AFImageResponseSerializer(), AFHTTPResponseSerializer(),
        ])
        serializer.acceptableStatusCodes = IndexSet(integersIn: 200..<500)
        manager.responseSerializer = serializer
        let found: AFHTTPResponseSerializer = manager.responseSerializer
        return found
    }

    /// A challenge answered as in 3.x.
    static func answerWithPointer(_ manager: AFHTTPSessionManager, user: String, password: String) {
        manager.setTaskDidReceiveAuthenticationChallengeBlock { session, task, challenge, credential in
            guard challenge.previousFailureCount == 0 else { return .cancelAuthenticationChallenge }
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
                return .performDefaultHandling
            }
            credential?.pointee = URLCredential(user: user, password: password, persistence: .none)
            return .useCredential
        }
    }

    /// A challenge answered as in 4.x.
    static func answerWithObject(_ manager: AFHTTPSessionManager, user: String, password: String) {
        manager.setAuthenticationChallengeHandler { session, task, challenge, completionHandler -> Any in
            if challenge.previousFailureCount > 0 {
                return NSNumber(value: URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge.rawValue)
            }
            return URLCredential(user: user, password: password, persistence: .none)
        }
    }
}

/// Shared objects.
enum SharedSnippets {
    static func watchNetwork(_ change: @escaping (String) -> Void) {
        AFNetworkReachabilityManager.shared().setReachabilityStatusChange { status in
            change(AFStringFromNetworkReachabilityStatus(status))
        }
        AFNetworkReachabilityManager.shared().startMonitoring()
    }

    static func watchWithManager(_ manager: AFHTTPRequestOperationManager) {
        let operationQueue = manager.operationQueue
        manager.reachabilityManager.setReachabilityStatusChange { status in
            switch status {
            case .reachableViaWWAN, .reachableViaWiFi:
                operationQueue.isSuspended = false
            case .notReachable:
                operationQueue.isSuspended = true
            default:
                operationQueue.isSuspended = true
            }
        }
        manager.reachabilityManager.startMonitoring()
    }

    static func showActivity() -> Bool {
        AFNetworkActivityIndicatorManager.shared().isEnabled = true
        return AFNetworkActivityIndicatorManager.shared().isEnabled
    }
}

/// Trust.
enum SecuritySnippets {
    static func pin(_ manager: AFHTTPSessionManager, in bundle: Bundle) {
        let certificates = AFSecurityPolicy.certificates(in: bundle)
        let policy = AFSecurityPolicy(pinningMode: AFSSLPinningMode.certificate, withPinnedCertificates: certificates)
        policy.allowInvalidCertificates = false
        policy.validatesDomainName = true
        manager.securityPolicy = policy
    }

    static func trustAll() -> AFHTTPRequestOperationManager {
        let manager = AFHTTPRequestOperationManager()
        manager.securityPolicy = AFSecurityPolicy(pinningMode: .none)
        manager.securityPolicy.allowInvalidCertificates = true  // not recommended for production
        manager.securityPolicy.validatesDomainName = false
        return manager
    }
}

/// Operations and their manager, of 2.x.
enum OperationSnippets {
    static func get(_ url: String, completion: @escaping (Any?, Error?) -> Void) {
        let manager = AFHTTPRequestOperationManager()
        manager.responseSerializer.acceptableContentTypes?.insert("text/html")
        manager.get(
            url,
            parameters: ["foo": "bar"],
            success: { (operation: AFHTTPRequestOperation!, responseObject: Any!) in
                completion(responseObject, nil)
            },
            failure: { (operation: AFHTTPRequestOperation!, error: Error!) in
                completion(nil, error)
            }
        )
    }

    static func post(_ url: String, _ file: URL, completion: @escaping (Any?, Error?) -> Void) {
        let manager = AFHTTPRequestOperationManager(baseURL: URL(string: url))
        manager.post(
            url,
            parameters: ["foo": "bar"],
            constructingBodyWith: { formData in
                // swift-format-ignore: NeverUseForceTry
                try! formData.appendPart(withFileURL: file, name: "image")
            },
            success: { operation, responseObject in
                completion(responseObject, nil)
            },
            failure: { operation, error in
                completion(nil, error)
            }
        )
    }

    static func single(_ URL: URL, completion: @escaping (Any?) -> Void) {
        let op = AFHTTPRequestOperation(request: URLRequest(url: URL))
        op.responseSerializer = AFJSONResponseSerializer()
        op.responseSerializer.acceptableContentTypes = NSSet(objects: "application/json", "text/html") as? Set<String>
        op.setCompletionBlockWithSuccess(
            { operation, responseObject in
                completion(responseObject)
            },
            failure: { operation, error in
                completion(nil)
            }
        )
        OperationQueue.main.addOperation(op)
    }

    static func batch(_ files: [URL], to url: String, completion: @escaping (Int) -> Void) {
        var mutableOperations: [AFHTTPRequestOperation] = []
        for fileURL in files {
            let request = AFHTTPRequestSerializer().multipartFormRequest(
                withMethod: "POST",
                urlString: url,
                parameters: nil,
                constructingBodyWith: { formData in
                    try? formData.appendPart(withFileURL: fileURL, name: "images[]")
                },
                error: nil
            )
            mutableOperations.append(AFHTTPRequestOperation(request: request as URLRequest))
        }

        let operations = AFURLConnectionOperation.batch(
            ofRequestOperations: mutableOperations,
            progressBlock: { numberOfFinishedOperations, totalNumberOfOperations in
                print("\(numberOfFinishedOperations) of \(totalNumberOfOperations) complete")
            },
            completionBlock: { operations in
                completion(operations.count)
            }
        )
        OperationQueue.main.addOperations(operations, waitUntilFinished: false)
    }
}

/// A view as a program of another toolkit has it.
@MainActor class PictureView: ImageDisplaying {
    let imageLoading = ImageLoading()
    var image: Image?

    func show(_ url: URL, success: @escaping (Image) -> Void) {
        let request = URLRequest(url: url)
        setImageWith(
            request,
            placeholderImage: nil,
            success: { request, response, image in
                success(image)
            },
            failure: nil
        )
    }
}
