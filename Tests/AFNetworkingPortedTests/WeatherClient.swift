import AFNetworking
import Foundation

// Code as it stands in apps, written against AFNetworking for Apple's platforms. What had to be added is `@unchecked
// Sendable` where a class inherits from one of ours: without it the compiler warns.

class WeatherClient: AFHTTPSessionManager, @unchecked Sendable {
    static let errorDomain = "WeatherClientErrorDomain"

    private(set) var lastStatus: AFNetworkReachabilityStatus = .unknown
    private(set) var isOnline = false

    convenience init(server: URL) {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 20
        configuration.httpMaximumConnectionsPerHost = 4
        self.init(baseURL: server, sessionConfiguration: configuration)

        requestSerializer = AFJSONRequestSerializer()
        requestSerializer.timeoutInterval = 15
        requestSerializer.cachePolicy = .reloadIgnoringLocalCacheData
        requestSerializer.httpShouldHandleCookies = false
        requestSerializer.setValue("ios/3.2", forHTTPHeaderField: "X-Client")
        requestSerializer.setAuthorizationHeaderFieldWithUsername("anna", password: "s3cret")

        let serializer = AFJSONResponseSerializer(readingOptions: .mutableContainers)
        serializer.removesKeysWithNullValues = true
        serializer.acceptableContentTypes?.insert("text/plain")
        responseSerializer = serializer

        securityPolicy = AFSecurityPolicy.default()
        securityPolicy.validatesDomainName = true
    }

    func watchNetwork() {
        reachabilityManager.setReachabilityStatusChange { [weak self] status in
            self?.lastStatus = status
            switch status {
            case .notReachable:
                self?.operationQueue.isSuspended = true
            case .reachableViaWiFi, .reachableViaWWAN:
                self?.operationQueue.isSuspended = false
                self?.isOnline = true
            default:
                break
            }
        }
    }

    func forecast(city: String, days: Int, completion: @escaping ([String: Any]?, Error?) -> Void)
        -> URLSessionDataTask?
    {
        let parameters: [String: Any] = ["city": city, "days": days, "units": ["temperature": "C", "wind": "kn"]]
        return get(
            "get",
            parameters: parameters,
            headers: nil,
            progress: nil,
            success: { task, responseObject in
                guard let object = responseObject as? [String: Any] else {
                    completion(nil, NSError(domain: WeatherClient.errorDomain, code: 1, userInfo: nil))
                    return
                }
                let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
                assert(status == 200)
                completion(object, nil)
            },
            failure: { _, error in
                completion(nil, error)
            }
        )
    }

    func report(_ observation: [String: Any], completion: @escaping (Bool, String?) -> Void) {
        post("post", parameters: observation, headers: ["X-Request": "report"], progress: nil) { _, object in
            let echo = (object as? [String: Any])?["json"] as? [String: Any]
            completion(true, echo?["station"] as? String)
        } failure: { task, error in
            let data = (error as NSError).userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data
            completion(false, data.flatMap { String(data: $0, encoding: .utf8) })
        }
    }

    func explain(_ path: String, completion: @escaping (Int, NSError) -> Void) {
        get(path, parameters: nil, headers: nil, progress: nil, success: nil) { _, error in
            let error = error as NSError
            let response = error.userInfo[AFNetworkingOperationFailingURLResponseErrorKey] as? HTTPURLResponse
            completion(response?.statusCode ?? 0, error)
        }
    }

    func uploadPhoto(
        _ photo: Data,
        from file: URL,
        progress: @escaping (Double) -> Void,
        completion: @escaping (Any?, Error?) -> Void
    ) {
        let uploadManager = AFHTTPSessionManager(baseURL: baseURL)
        uploadManager.post(
            "post",
            parameters: ["album": "clouds"],
            headers: nil,
            constructingBodyWith: { formData in
                formData.appendPart(withFileData: photo, name: "photo", fileName: "sky.jpg", mimeType: "image/jpeg")
                try? formData.appendPart(withFileURL: file, name: "notes")
                formData.appendPart(withForm: "42".data(using: .utf8)!, name: "station")
            },
            progress: { uploadProgress in
                progress(uploadProgress.fractionCompleted)
            },
            success: { _, object in
                completion(object, nil)
            },
            failure: { _, error in
                completion(nil, error)
            }
        )
        uploadManager.invalidateSessionCancelingTasks(false, resetSession: false)
    }
}

/// A response serializer that puts the server's own words into errors, as half of all apps have one.
class WeatherResponseSerializer: AFJSONResponseSerializer, @unchecked Sendable {
    override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let object = super.responseObject(for: response, data: data, error: error)
        if let problem = error?.pointee, let message = (object as? [String: Any])?["message"] as? String {
            var userInfo = problem.userInfo
            userInfo[NSLocalizedDescriptionKey] = message
            error?.pointee = NSError(domain: problem.domain, code: problem.code, userInfo: userInfo)
        }
        return object
    }
}

/// A request serializer that signs what it makes.
class SigningRequestSerializer: AFHTTPRequestSerializer, @unchecked Sendable {
    override func request(bySerializing request: URLRequest, withParameters parameters: Any?, error: NSErrorPointer)
        -> URLRequest?
    {
        var request = super.request(bySerializing: request, withParameters: parameters, error: error)
        let query = request?.url?.query ?? ""
        request?.setValue("signed \(query)", forHTTPHeaderField: "X-Signature")
        return request
    }
}

class DownloadCenter: NSObject {
    let manager = AFURLSessionManager(sessionConfiguration: URLSessionConfiguration.default)
    var observers: [NSObjectProtocol] = []
    var events: [String] = []
    var current: URLSessionDownloadTask?

    override init() {
        super.init()
        let center = NotificationCenter.default
        for (name, word) in [
            (Notification.Name.AFNetworkingTaskDidResume, "resume"),
            (Notification.Name.AFNetworkingTaskDidComplete, "complete"),
        ] {
            observers.append(
                center.addObserver(forName: name, object: nil, queue: .main) { [weak self] note in
                    guard let self = self, let task = note.object as? URLSessionDownloadTask else { return }
                    guard task === self.current else { return }
                    if word == "complete" {
                        self.events.append("complete \(note.userInfo?[AFNetworkingTaskDidCompleteAssetPathKey] != nil)")
                    } else {
                        self.events.append(word)
                    }
                }
            )
        }
        manager.setDownloadTaskDidWriteDataBlock { _, _, _, _, _ in }
    }

    deinit {
        observers.forEach(NotificationCenter.default.removeObserver(_:))
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    func fetch(_ url: URL, into folder: URL, completion: @escaping (URL?, Error?) -> Void) {
        let request = URLRequest(url: url)
        let task = manager.downloadTask(
            with: request,
            progress: { progress in
                print(progress.localizedDescription ?? "")
            },
            destination: { _, response in
                folder.appendingPathComponent(response.suggestedFilename ?? "download")
            },
            completionHandler: { _, filePath, error in
                completion(filePath, error)
            }
        )
        current = task
        task.resume()
    }
}

/// What apps write by hand with the functions of the library.
enum Links {
    static func link(_ base: String, _ parameters: [String: Any]) -> String {
        base + "?" + AFQueryStringFromParameters(parameters)
    }

    static func escape(_ text: String) -> String {
        AFPercentEscapedStringFromString(text)
    }
}
